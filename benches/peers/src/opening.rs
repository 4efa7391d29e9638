//! Measures how a new process opens a long history and reads its first trace: with the system's caches warm, and with the caches
//! dropped.

use crate::contestant::{Contestant, LONG};
use crate::draft::{Lie, some_story};
use crate::figures::{Field, Series, head, number, row};
use crate::history::Kept;
use crate::options::Options;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use teamlog_benches::rounds::turns;

const FLAG: &str = "--open";
pub const WARM: &str = "Open and first trace in a new process";
pub const COLD: &str = "Open and first trace in a new process, caches dropped";

/// Cost of a new process.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Cost {
    open: Duration,
    /// Time from the start of opening to the answer, if the contestant has an index.
    trace: Option<Duration>,
    /// Bytes read from the disk.
    read_bytes: u64,
}

/// Runs the new process, if the arguments ask for it.
pub fn child(args: &[String]) -> bool {
    let [flag, name, count, story, dir] = args else {
        return false;
    };
    if flag != FLAG {
        return false;
    }
    let one = Contestant::of_name(name).unwrap();
    let count = count.parse().unwrap();
    let before = read_bytes();
    let started = Instant::now();
    let history = one.open(Path::new(dir), count);
    let open = started.elapsed();
    let found = history.trace(story);
    let cost = Cost {
        open,
        trace: found.map(|_| started.elapsed()),
        read_bytes: read_bytes() - before,
    };
    println!("{}", serde_json::to_string(&cost).unwrap());
    true
}

fn read_bytes() -> u64 {
    let io = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    let line = io
        .lines()
        .find_map(|line| line.strip_prefix("read_bytes: "));
    line.and_then(|bytes| bytes.parse().ok()).unwrap_or(0)
}

fn run(one: Contestant, dir: &Path, number: u64, options: &Options) -> Cost {
    let count = options.history();
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            FLAG,
            &one.name(),
            &count.to_string(),
            &some_story(number, count, Lie::Spread),
        ])
        .arg(dir)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{}: {stderr}", one.name()))
}

/// Drops the caches of the whole system, except the caches of this program. Returns false without permission.
fn drop_caches() -> bool {
    let synced = Command::new("sync").status();
    let dropped = std::fs::write("/proc/sys/vm/drop_caches", "3");
    let program = std::fs::read(std::env::current_exe().unwrap());
    synced.is_ok() && dropped.is_ok() && program.is_ok()
}

/// Prints two tables: with warm caches and with cold caches.
pub fn section(kept: &Kept, options: &Options) {
    if options.begins(WARM) {
        table(kept, options.rounds() * 2 + 1, false, options);
    }
    if options.begins(COLD) {
        match drop_caches() {
            true => table(kept, options.rounds(), true, options),
            false => println!("Skipped: the caches may not be dropped here."),
        }
    }
}

fn table(kept: &Kept, rounds: usize, cold: bool, options: &Options) {
    let field = || Field(LONG, vec![Series::default(); LONG.len()]);
    let (mut opens, mut traces) = (field(), field());
    let mut read = vec![0; LONG.len()];
    let mut runs = 0;
    turns(rounds, LONG.len(), |round, at| {
        // `Written` has nothing to open. The first cold round is not measured.
        if LONG[at] == Contestant::Written || (cold && round == 0) {
            return;
        }
        if cold {
            drop_caches();
        }
        runs += 1;
        let cost = run(LONG[at], &kept.0[at], runs, options);
        if round > 0 {
            opens.1[at].rounds.push(cost.open.as_secs_f64());
            let trace = cost.trace.map(|trace| trace.as_secs_f64());
            traces.1[at].rounds.extend(trace);
            read[at] += cost.read_bytes;
        }
    });
    head(&[
        "contestant",
        "open ms",
        "x best peer",
        "with first trace ms",
        "x best peer with an index",
        "KiB read",
    ]);
    let millis = |series: &Series| {
        let cost = series.cost();
        cost.map_or("–".into(), |cost| number(cost * 1e3))
    };
    for at in (0..LONG.len()).filter(|at| opens.1[*at].cost().is_some()) {
        row([
            LONG[at].name(),
            millis(&opens.1[at]),
            opens.ratio(at, opens.best_peer()),
            millis(&traces.1[at]),
            traces.ratio(at, traces.best_peer()),
            number(read[at] as f64 / opens.1[at].rounds.len() as f64 / 1024.0),
        ]);
    }
}
