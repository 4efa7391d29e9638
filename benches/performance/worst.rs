//! Finds the slowest of many durable appends, and checks if a rotation was the reason.

use crate::options::Options;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};
use teamlog_benches::events;
use teamlog_benches::table::{Target, row};
use teamlog_benches::workspace::log;
use teamlog_engine::Durability;

/// Number of timed appends. Earlier appends fill the segment, so that the segment ends among the timed appends.
const APPENDS: u64 = 200_000;
const BEFORE: u64 = 40_000;
/// Number of slowest appends to print.
const NAMED: usize = 6;

/// One append: its duration, its event, and other actions in the meantime.
struct Timed {
    took: Duration,
    seq: u64,
    why: &'static str,
}

/// Prints the rows, each with the slowest append of the bare loop in the same minute.
pub fn rows(options: &Options) {
    options.both("T2 the worst of 200,000 durable appends", |name, format| {
        let appends = if options.quick { APPENDS / 10 } else { APPENDS };
        let dir = options.fresh();
        let writer = log(&dir, format).lock().unwrap().into_writer(());
        let bare = File::create_new(dir.join("bare")).unwrap();
        for seq in 1..=BEFORE {
            let event = events::new_event(seq);
            writer.append(vec![event], Durability::Buffered).unwrap();
        }
        writer.sync().unwrap();
        let (mut ours, mut bares) = (Vec::new(), Vec::new());
        let (mut before, mut end) = (writer.head(), 0);
        let line = vec![b'x'; 480];
        for seq in BEFORE + 1..=BEFORE + appends {
            let event = events::new_event(seq);
            let started = Instant::now();
            writer.append(vec![event], Durability::Synced).unwrap();
            let took = started.elapsed();
            let now = writer.head();
            let why = match (now.rotating, now.segment > before.segment) {
                (true, _) => " (ends a segment)",
                (_, true) => " (begins one)",
                _ => "",
            };
            ours.push(Timed { took, seq, why });
            before = now;
            // teamlog and the bare loop take turns, so that other load of the machine affects both.
            let started = Instant::now();
            bare.write_all_at(&line, end).unwrap();
            bare.sync_data().unwrap();
            let (took, why) = (started.elapsed(), "");
            bares.push(Timed { took, seq, why });
            end += line.len() as u64;
        }
        let around: Vec<String> = ours
            .iter()
            .filter(|append| !append.why.is_empty())
            .map(shown)
            .collect();
        let (ours, bares) = (sorted(ours), sorted(bares));
        let detail = format!(
            "median {:.0} us; worst: {}; rotations: {}; bare loop {:.1} x its median of {:.0} us",
            micros(median(&ours)),
            named(&ours),
            around.join(", "),
            ratio(&bares),
            micros(median(&bares)),
        );
        row(name, Target::AtMost(10.0), ratio(&ours), " x", &detail);
    });
}

/// Sorts by duration, slowest first.
fn sorted(mut appends: Vec<Timed>) -> Vec<Timed> {
    appends.sort_unstable_by_key(|append| std::cmp::Reverse(append.took));
    appends
}

fn median(sorted: &[Timed]) -> Duration {
    sorted[sorted.len() / 2].took
}

fn ratio(sorted: &[Timed]) -> f64 {
    sorted[0].took.as_secs_f64() / median(sorted).as_secs_f64()
}

fn named(sorted: &[Timed]) -> String {
    let worst: Vec<String> = sorted.iter().take(NAMED).map(shown).collect();
    worst.join(", ")
}

fn shown(append: &Timed) -> String {
    let Timed { took, seq, why } = append;
    format!("event {seq} {:.0} us{why}", micros(*took))
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
