//! The scale mode measures one long log in each format: the costs of building the log, opening the log, appending an event, and
//! reading a trace.

use crate::options::Options;
use std::path::Path;
use std::time::Duration;
use teamlog_benches::child;
use teamlog_benches::events;
use teamlog_benches::past::{self, TEAM};
use teamlog_benches::rounds::{human, median};
use teamlog_benches::workspace::FORMATS;

/// Builds logs of `count` events and prints their costs.
pub fn run(count: u64, options: &Options) {
    println!(
        "| format | events | log | derived | build | peak | open | one append | peak | first trace of 20 | peak |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for format in FORMATS {
        let dir = options.fresh();
        past::create(&dir, format);
        let built = child::cost(&dir, "fill", &count.to_string());
        let story = events::trace_id(count / 2);
        let costs = |command| -> Vec<child::Cost> {
            (0..options.rounds(11))
                .map(|_| child::cost(&dir, command, &story))
                .collect()
        };
        let (appends, traces) = (costs("append"), costs("trace"));
        let middle = |costs: &[child::Cost], figure: fn(&child::Cost) -> Duration| {
            let seconds = costs.iter().map(|cost| figure(cost).as_secs_f64());
            human(Duration::from_secs_f64(median(seconds.collect())))
        };
        let peak = |costs: &[child::Cost]| {
            let kib = costs.iter().map(|cost| cost.peak_kib).max();
            format!("{} MiB", kib.unwrap_or_default() / 1024)
        };
        let size = |part: &str| {
            let bytes = size(&dir.join("teams").join(TEAM).join(part));
            format!("{} MiB", bytes >> 20)
        };
        println!(
            "| {} | {count} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            format.name(),
            size("events"),
            size("derived"),
            human(built.answer),
            peak(&[built]),
            middle(&traces, |cost| cost.open),
            middle(&appends, |cost| cost.answer),
            peak(&appends),
            middle(&traces, |cost| cost.answer),
            peak(&traces),
        );
    }
}

/// Returns the bytes of all files below a directory.
fn size(dir: &Path) -> u64 {
    let sizes = std::fs::read_dir(dir).unwrap().map(|entry| {
        let entry = entry.unwrap();
        let known = entry.metadata().unwrap();
        if known.is_dir() {
            size(&entry.path())
        } else {
            known.len()
        }
    });
    sizes.sum()
}
