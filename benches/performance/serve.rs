//! Measures the daemon: creating tasks beside many existing tasks, and sending events to many readers. `benches/http` measures
//! clients in another process that create, claim and complete tasks.

use crate::options::Options;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Barrier;
use std::time::{Duration, Instant};
use teamlog_benches::daemon::{Client, Daemon, Views};
use teamlog_benches::release::build;
use teamlog_benches::rounds::{human, timed};
use teamlog_benches::table::{Target, row};

/// Prints the rows about the daemon.
pub fn rows(options: &Options) {
    type Row = (&'static str, fn(&str, &Path, &Options));
    const ROWS: [Row; 5] = [
        ("teamd, 32 clients create beside 2,000 tasks", many_creates),
        (
            "teamd, a create at 100,000 tasks against one at 100",
            flatness,
        ),
        ("teamd, one event to 100 readers", fan_out),
        ("teamd, an event to a subscription's fetch", fetched),
        ("teamd, an event to a subscription's stream", streamed),
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

const SUBSCRIPTION: &str = r#"{"name":"w","kind":"built","window":256}"#;

/// Starts a daemon with a subscription of the events of kind `built`.
fn subscribed(teamlog: &Path, options: &Options) -> Daemon {
    let daemon = daemon(teamlog, options);
    let mut client = daemon.client();
    let (status, answer) = client.call("POST", "/v1/subscriptions", SUBSCRIPTION);
    assert_eq!(status, 200, "{answer}");
    daemon
}

/// Measures the time from the answer of an append until the waiting fetch has answered with the event.
fn fetched(name: &str, teamlog: &Path, options: &Options) {
    let daemon = subscribed(teamlog, options);
    let mut reader = daemon.client();
    let fetch = |reader: &mut Client, epoch: Option<u64>| -> Value {
        let body = match epoch {
            None => json!({"timeoutMs": 0}),
            Some(epoch) => json!({"epoch": epoch}),
        };
        let path = "/v1/subscriptions/w/fetch";
        let (status, answer) = reader.call("POST", path, &body.to_string());
        assert_eq!(status, 200, "{answer}");
        serde_json::from_str(&answer).unwrap()
    };
    let epoch = fetch(&mut reader, None)["epoch"].as_u64();
    deliveries(name, &daemon, options, || {
        let answer = fetch(&mut reader, epoch);
        let delivered = Instant::now();
        let seq = &answer["events"][0]["event"]["seq"];
        let ack = json!({"epoch": epoch, "seqs": [seq]}).to_string();
        assert_eq!(reader.call("POST", "/v1/subscriptions/w/ack", &ack).0, 200);
        delivered
    });
}

/// Measures the time from the answer of an append until the event is in the stream.
fn streamed(name: &str, teamlog: &Path, options: &Options) {
    let daemon = subscribed(teamlog, options);
    let mut reader = daemon.client();
    reader.follow_subscription("w");
    deliveries(name, &daemon, options, || {
        reader.next_event();
        Instant::now()
    });
}

/// Appends events one after another, and prints the latency from each answer to the time that `receive` returns.
fn deliveries(
    name: &str,
    daemon: &Daemon,
    options: &Options,
    mut receive: impl FnMut() -> Instant + Send,
) {
    // A stream without acks delivers at most the window.
    let events = if options.quick { 50 } else { 250 };
    let mut client = daemon.client();
    let barrier = Barrier::new(2);
    let mut took = Vec::new();
    std::thread::scope(|scope| {
        let receiver = scope.spawn(|| {
            let mut received = Vec::new();
            for _ in 0..events {
                barrier.wait();
                received.push(receive());
            }
            received
        });
        let mut answered = Vec::new();
        for _ in 0..events {
            barrier.wait();
            // The receiver waits for the event before the append begins.
            std::thread::sleep(Duration::from_millis(5));
            client.append();
            answered.push(Instant::now());
        }
        let received = receiver.join().unwrap();
        // An event can arrive before the answer of its append.
        let pairs = received.iter().zip(&answered);
        took.extend(
            pairs.map(|(received, answered)| received.saturating_duration_since(*answered)),
        );
    });
    took.sort_unstable();
    let millis = took[took.len() / 2].as_secs_f64() * 1e3;
    let p99 = human(took[took.len() * 99 / 100]);
    row(
        name,
        Target::AtMost(2.0),
        millis,
        " ms",
        &format!("p99 {p99}, wanted at most 10 ms"),
    );
}
