//! Measures the daemon: creating tasks beside many existing tasks, and sending events to many readers. `benches/http` measures
//! clients in another process that create, claim and complete tasks.

use crate::options::Options;
use std::path::Path;
use std::sync::Barrier;
use std::time::Duration;
use teamlog_benches::daemon::{Client, Daemon, Views};
use teamlog_benches::release::build;
use teamlog_benches::rounds::{human, timed};
use teamlog_benches::table::{Target, row};

/// Prints the rows about the daemon.
pub fn rows(options: &Options) {
    type Row = (&'static str, fn(&str, &Path, &Options));
    const ROWS: [Row; 3] = [
        ("teamd, 32 clients create beside 2,000 tasks", many_creates),
        (
            "teamd, a create at 100,000 tasks against one at 100",
            flatness,
        ),
        ("teamd, one event to 100 readers", fan_out),
    ];
    let mut built = None;
    for (name, measure) in ROWS.iter().filter(|(name, _)| options.wants(name)) {
        measure(name, built.get_or_insert_with(|| build("release")), options);
    }
}

fn daemon(teamlog: &Path, options: &Options) -> Daemon {
    Daemon::start(teamlog, &options.fresh(), "jsonl", Views::After)
}

fn many_creates(name: &str, teamlog: &Path, options: &Options) {
    const CLIENTS: usize = 32;
    const BEFORE: usize = 2_000;
    let each = if options.quick { 100 } else { 500 };
    let daemon = daemon(teamlog, options);
    let create = |each: usize| {
        std::thread::scope(|scope| {
            for _ in 0..CLIENTS {
                let mut client = daemon.client();
                scope.spawn(move || (0..each).for_each(|_| client.create()));
            }
        });
    };
    create(BEFORE.div_ceil(CLIENTS));
    let took = timed(|| create(each));
    let rate = (CLIENTS * each) as f64 / took.as_secs_f64();
    let detail = format!("{:.0} MiB", daemon.memory());
    row(name, Target::Report, rate, " /s", &detail);
}

fn flatness(name: &str, teamlog: &Path, options: &Options) {
    const MEASURED: usize = 400;
    let grown = if options.quick { 10_000 } else { 100_000 };
    let daemon = daemon(teamlog, options);
    let mut client = daemon.client();
    let measure = |client: &mut Client| {
        let create = |_| timed(|| client.create());
        let mut took: Vec<Duration> = (0..MEASURED).map(create).collect();
        took.sort_unstable();
        took[MEASURED / 2]
    };
    (0..100).for_each(|_| client.create());
    let young = measure(&mut client);
    std::thread::scope(|scope| {
        for _ in 0..64 {
            let mut client = daemon.client();
            scope.spawn(move || (0..grown / 64).for_each(|_| client.create()));
        }
    });
    let old = measure(&mut client);
    let figure = old.as_secs_f64() / young.as_secs_f64();
    let detail = format!(
        "{} against {}; {grown} tasks in between; {:.0} MiB",
        human(old),
        human(young),
        daemon.memory()
    );
    row(name, Target::AtMost(1.3), figure, " x", &detail);
}

/// Measures the time from a durable answer until the last of all readers has the event.
fn fan_out(name: &str, teamlog: &Path, options: &Options) {
    const READERS: usize = 100;
    let events = if options.quick { 50 } else { 300 };
    let daemon = daemon(teamlog, options);
    let mut client = daemon.client();
    client.create();
    let barrier = Barrier::new(READERS + 1);
    let mut took = Vec::new();
    std::thread::scope(|scope| {
        for _ in 0..READERS {
            let mut reader = daemon.client();
            let barrier = &barrier;
            scope.spawn(move || {
                reader.follow("kind=task_created&after=0");
                for _ in 0..=events {
                    reader.next_event();
                    barrier.wait();
                }
            });
        }
        barrier.wait();
        for _ in 0..events {
            took.push(timed(|| {
                client.create();
                barrier.wait();
            }));
        }
    });
    took.sort_unstable();
    let millis = took[took.len() / 2].as_secs_f64() * 1e3;
    let p99 = human(took[took.len() * 99 / 100]);
    let detail = format!("p99 {p99}; {:.0} MiB", daemon.memory());
    row(name, Target::Report, millis, " ms", &detail);
}
