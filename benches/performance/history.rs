//! Measures the same command on a short history and on a long history.

use crate::options::Options;
use serde_json::json;
use std::io::Cursor;
use std::path::PathBuf;
use std::time::Duration;
use teamlog_benches::child::{self, Cost};
use teamlog_benches::events::{self, STORY};
use teamlog_benches::past::import;
use teamlog_benches::rounds::{human, median};
use teamlog_benches::table::{Target, row};
use teamlog_benches::workspace::FORMATS;
use teamlog_engine::{Format, Timestamp};
use teamlog_team::projections::RefKind;

const SHORT: u64 = 1_000;

/// Prints the rows about long histories.
pub fn rows(options: &Options) {
    let long = if options.quick { "100 k" } else { "1 M" };
    for format in FORMATS {
        let names = [
            format!("T13 open and trace, {long} events against 1 k"),
            format!("T13 first trace of 20 events after open, {long} events"),
            format!("T14 open and send, {long} events against 1 k"),
            format!("T14 memory of a send, {long} events over 1 k"),
        ];
        let names = names.map(|name| format!("{name}, {}", format.name()));
        if names.iter().any(|name| options.wants(name)) {
            long_against_short(&names, format, options);
        }
    }
}

fn long_against_short(names: &[String; 4], format: Format, options: &Options) {
    let long = if options.quick { 100_000 } else { 1_000_000 };
    let teams = [SHORT, long].map(|count| {
        (
            imported(format, count, options),
            events::trace_id(count / 2),
        )
    });
    let mut costs: [[Vec<Cost>; 2]; 2] = Default::default();
    for _ in 0..options.rounds(41) {
        for ((dir, story), costs) in teams.iter().zip(&mut costs) {
            for (command, costs) in ["trace", "send"].iter().zip(costs) {
                costs.push(child::cost(dir, command, story));
            }
        }
    }
    let of = |costs: &[Cost], figure: fn(&Cost) -> Duration| -> Duration {
        let seconds = costs.iter().map(|cost| figure(cost).as_secs_f64());
        Duration::from_secs_f64(median(seconds.collect()))
    };
    let ratio = |command: usize| {
        let pairs = costs[1][command].iter().zip(&costs[0][command]);
        let ratios =
            pairs.map(|(long, short)| long.total().as_secs_f64() / short.total().as_secs_f64());
        let [short, long] = [0, 1].map(|team| human(of(&costs[team][command], Cost::total)));
        (median(ratios.collect()), format!("{long} against {short}"))
    };
    if options.wants(&names[0]) {
        let (figure, detail) = ratio(0);
        row(&names[0], Target::AtMost(1.5), figure, " x", &detail);
    }
    if options.wants(&names[1]) {
        let [open, answer] = [|cost: &Cost| cost.open, |cost: &Cost| cost.answer]
            .map(|figure| of(&costs[1][0], figure));
        let detail = format!("open {}", human(open));
        let millis = answer.as_secs_f64() * 1e3;
        row(&names[1], Target::AtMost(2.0), millis, " ms", &detail);
    }
    if options.wants(&names[2]) {
        let (figure, detail) = ratio(1);
        row(&names[2], Target::AtMost(1.5), figure, " x", &detail);
    }
    if options.wants(&names[3]) {
        let [short, long] = [0, 1].map(|team: usize| {
            let peaks = costs[team][1].iter().map(|cost| cost.peak_kib as f64);
            median(peaks.collect()) / 1024.0
        });
        let detail = format!("{long:.1} MiB against {short:.1} MiB");
        let more = long - short;
        row(&names[3], Target::AtMost(20.0), more, " MiB", &detail);
    }
}

/// Creates a root with a team of `count` messages and their views.
pub fn imported(format: Format, count: u64, options: &Options) -> PathBuf {
    let dir = options.fresh();
    let mut envelopes = Vec::new();
    for seq in 0..count {
        envelope(seq, &mut envelopes);
    }
    import(&dir, format, &mut Cursor::new(envelopes));
    dir
}

/// Appends one message of a team's past. A task has 20 messages, two seconds apart.
fn envelope(seq: u64, out: &mut Vec<u8>) {
    let event = events::event(seq);
    let name = |kind| event.refs.get(kind);
    let story = events::trace_id(seq);
    let first = seq.is_multiple_of(STORY);
    let at = Timestamp::from_micros(1_735_689_600_000_000 + seq as i64 * 2_000_000).unwrap();
    let payload = events::payload(seq);
    let payload = match first {
        true => json!({"subject": payload.subject, "details": payload.body}),
        false => json!({"status": "in_progress", "note": payload.body}),
    };
    let message = json!({
        "id": format!("msg_{seq:012x}"),
        "type": if first { "task_assign" } else { "task_update" },
        "from": event.actor,
        "to": name(RefKind::Agent),
        "task_id": format!("bd-{story}"),
        "trace_id": story,
        "priority": "normal",
        "created_at": at.to_string(),
        "schema_version": 1,
        "payload": payload,
    });
    serde_json::to_writer(&mut *out, &message).unwrap();
    out.push(b'\n');
}
