//! Measures a long history, which is loaded once, and then scanned and searched in turns.

use crate::contestant::{Contestant, Depth, History, LONG};
use crate::draft::{Lie, some_story};
use crate::figures::{Field, Series, head, number, row};
use crate::options::Options;
use crate::{opening, process};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use teamlog_benches::events::STORY;
use teamlog_benches::rounds::{timed, turns};

/// Directories of the histories of [`LONG`]; empty if no section needs a history.
pub struct Kept(pub Vec<PathBuf>);

impl Kept {
    /// Returns the directory of a contestant.
    pub fn dir(&self, one: Contestant) -> Option<&Path> {
        let at = LONG.iter().position(|long| *long == one)?;
        self.0.get(at).map(PathBuf::as_path)
    }
}

const ON_DISK: &str = "A history on disk";
const SCAN: &str = "Scan of a history";
const TRACE: &str = "20 events of a trace, warm";

/// Prints the sections about an open history. Returns the directories, because later sections need them.
pub fn sections(options: &Options) -> Kept {
    let need = [
        ON_DISK,
        SCAN,
        TRACE,
        opening::WARM,
        opening::COLD,
        process::ALL,
    ];
    if !need.iter().any(|heading| options.wants(heading)) {
        return Kept(Vec::new());
    }
    let kept = load(options);
    let count = options.history();
    let opened: Vec<_> = LONG
        .iter()
        .zip(&kept.0)
        .map(|(one, dir)| one.open(dir, count))
        .collect();
    if options.begins(SCAN) {
        scans(&opened, options);
    }
    if options.begins(TRACE) {
        traces(&opened, options);
    }
    kept
}

fn load(options: &Options) -> Kept {
    let count = options.history();
    let shows = options.begins(ON_DISK);
    if shows {
        head(&["contestant", "bytes an event", "load s"]);
    }
    let mut kept: Vec<PathBuf> = Vec::new();
    for one in LONG {
        let shared = LONG[..kept.len()].iter().position(|other| {
            matches!((one, other), (Contestant::Team(own), Contestant::Indexed(other)) if own == other)
        });
        if let Some(shared) = shared {
            kept.push(kept[shared].clone());
            continue;
        }
        let dir = options.fresh();
        let took = timed(|| one.load(&dir, count));
        if shows {
            row([
                one.name(),
                number(on_disk(&dir) as f64 / count as f64),
                number(took.as_secs_f64()),
            ]);
        }
        kept.push(dir);
    }
    Kept(kept)
}

/// Returns the bytes of all files below a directory.
pub fn on_disk(dir: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| {
        let entry = entry.unwrap();
        let known = entry.metadata().unwrap();
        match known.is_dir() {
            true => on_disk(&entry.path()),
            false => known.blocks() * 512,
        }
    });
    entries.sum()
}

/// The scans: name, depth, number of threads.
const SCANS: [(&str, Depth, u64); 4] = [
    ("records", Depth::Records, 1),
    ("every field", Depth::Fields, 1),
    ("payload typed", Depth::Typed, 1),
    ("the same, two threads", Depth::Typed, 2),
];

fn scans(opened: &[Box<dyn History>], options: &Options) {
    let count = options.history();
    let mut fields = SCANS.map(|_| Field(LONG, vec![Series::default(); LONG.len()]));
    turns(options.rounds(), LONG.len(), |round, at| {
        for ((_, depth, threads), field) in SCANS.iter().zip(&mut fields) {
            let started = Instant::now();
            let Some(seen) = opened[at].scan(*depth, *threads) else {
                continue;
            };
            let took = started.elapsed().as_secs_f64();
            assert!(seen >= count, "{} lost events", LONG[at].name());
            if round > 0 {
                field.1[at].rounds.push(took / seen as f64);
            }
        }
    });
    let floor = fields[0].index(Contestant::Written);
    let names = SCANS.map(|(name, ..)| format!("{name} M/s (x best peer)"));
    let columns = names.iter().map(String::as_str);
    let columns: Vec<&str> = std::iter::once("contestant")
        .chain(columns)
        .chain(["records x bare, with CRC"])
        .collect();
    head(&columns);
    for (at, one) in LONG.iter().enumerate() {
        if fields[0].1[at].cost().is_none() {
            continue;
        }
        let cell = |field: &Field<'_>| {
            let rate = field.1[at].cost().map(|cost| number(1e-6 / cost));
            rate.map_or("–".into(), |rate| {
                format!("{rate} ({})", field.ratio(at, field.best_peer()))
            })
        };
        let cells = fields.iter().map(cell);
        let ends = [fields[0].ratio(at, floor)];
        row(std::iter::once(one.name()).chain(cells).chain(ends));
    }
}

fn traces(opened: &[Box<dyn History>], options: &Options) {
    let fields = [Lie::Adjacent, Lie::Spread].map(|lie| lookups(opened, lie, options));
    head(&[
        "contestant",
        "adjacent p50 us",
        "p99 us",
        "x best peer",
        "spread p50 us",
        "p99 us",
        "x best peer",
    ]);
    for (at, one) in LONG.iter().enumerate() {
        let cells = fields.iter().filter_map(|field| {
            Some([
                number(field.1[at].cost()? * 1e6),
                field.1[at].call(0.99),
                field.ratio(at, field.best_peer()),
            ])
        });
        let cells: Vec<String> = cells.flatten().collect();
        if !cells.is_empty() {
            row(std::iter::once(one.name()).chain(cells));
        }
    }
}

fn lookups(opened: &[Box<dyn History>], lie: Lie, options: &Options) -> Field<'static> {
    let lookups = if options.quick { 200 } else { 1_000 };
    let mut field = vec![Series::default(); LONG.len()];
    turns(options.rounds(), LONG.len(), |round, at| {
        let mut calls: Vec<Duration> = Vec::with_capacity(lookups as usize);
        for lookup in 0..lookups {
            let number = round as u64 * lookups + lookup;
            let story = some_story(number, options.history(), lie);
            let called = Instant::now();
            let Some(found) = opened[at].trace(&story) else {
                return;
            };
            calls.push(called.elapsed());
            assert_eq!(found as u64, STORY, "{} {story}", LONG[at].name());
        }
        if round > 0 {
            calls.sort_unstable();
            let middle = calls[calls.len() / 2].as_secs_f64();
            field[at].rounds.push(middle);
            field[at].calls.extend(calls);
        }
    });
    Field(LONG, field.into_iter().map(Series::sorted).collect())
}
