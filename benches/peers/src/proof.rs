//! Proves how often each contestant syncs. This program starts itself again under strace, and counts the calls on the
//! contestant's files.

use crate::contestant::{Appender, Contestant};
use crate::options::Options;
use std::path::Path;
use std::process::{Command, Stdio};

const FLAG: &str = "--proof";
/// Path of a missing file. An attempt to open this path marks the start and the end of the count in the trace.
const MARK: &str = "/teamlog-peers-mark";
const WRITES: [&str; 5] = ["write", "pwrite64", "writev", "pwritev", "pwritev2"];
const SYNCS: [&str; 6] = [
    "fsync",
    "fdatasync",
    "msync",
    "sync_file_range",
    "syncfs",
    "sync",
];

/// The counts of strace; absent if the system does not permit tracing.
pub struct Proof(Option<Counts>);

struct Counts {
    events: f64,
    writes: f64,
    syncs: f64,
}

impl Proof {
    /// Counts the calls of `threads` threads that each append `each` events.
    pub fn measure(
        contestant: Contestant,
        threads: usize,
        each: usize,
        options: &Options,
    ) -> Proof {
        Proof(count(contestant, threads, each, options))
    }

    fn show(&self, figure: impl Fn(&Counts) -> String) -> String {
        self.0.as_ref().map_or("not traced".into(), figure)
    }

    /// Returns the number of writes per append.
    pub fn writes(&self) -> String {
        self.show(|counts| format!("{:.2}", counts.writes / counts.events))
    }

    /// Returns the number of syncs per append.
    pub fn syncs(&self) -> String {
        self.show(|counts| match counts.syncs / counts.events {
            syncs if syncs < 1.0 => format!("{syncs:.2}, not durable"),
            syncs => format!("{syncs:.2}"),
        })
    }

    /// Returns the number of events per sync.
    pub fn events_a_sync(&self) -> String {
        self.show(|counts| format!("{:.1}", counts.events / counts.syncs))
    }
}

fn count(one: Contestant, threads: usize, each: usize, options: &Options) -> Option<Counts> {
    let (dir, trace) = (options.fresh(), options.fresh().join("trace"));
    let names = [&WRITES[..], &SYNCS[..], &["openat"]].concat().join(",");
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "-y", "--seccomp-bpf", "-s", "0", "-e", &names, "-o"])
        .arg(&trace)
        .arg(std::env::current_exe().unwrap())
        .args([FLAG, &one.name(), &threads.to_string(), &each.to_string()])
        .arg(&dir)
        .stderr(Stdio::null());
    if !strace.status().is_ok_and(|status| status.success()) {
        return None;
    }
    let text = std::fs::read_to_string(&trace).ok()?;
    let dir = dir.display().to_string();
    let counted = text.split(MARK).nth(1)?;
    let calls = |names: &[&str]| {
        let lines = counted.lines().filter(|line| line.contains(&dir));
        let called = lines.filter(|line| {
            let mut words = line.split([' ', '(']).filter(|word| !word.is_empty());
            words.nth(1).is_some_and(|name| names.contains(&name))
        });
        called.count() as f64
    };
    Some(Counts {
        events: (threads * each) as f64,
        writes: calls(&WRITES),
        syncs: calls(&SYNCS),
    })
}

/// Runs the appends that strace traces, if the arguments ask for it.
pub fn child(args: &[String]) -> bool {
    let [flag, name, threads, each, dir] = args else {
        return false;
    };
    if flag != FLAG {
        return false;
    }
    let one = Contestant::of_name(name).unwrap();
    let (threads, each): (u64, u64) = (threads.parse().unwrap(), each.parse().unwrap());
    let sink = one.sink(Path::new(dir), true);
    let run = |count: u64, offset: u64| {
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let sink = &sink;
                scope.spawn(move || {
                    let mut append: Appender<'_> = sink.appender();
                    for at in 0..count {
                        append(one.draft(offset + thread * count + at));
                    }
                });
            }
        });
    };
    // The calls of the first appends are not counted.
    run(1, 1);
    let _ = std::fs::File::open(MARK);
    run(each, threads + 1);
    let _ = std::fs::File::open(MARK);
    true
}
