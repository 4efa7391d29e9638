//! Measures appends: durable from one thread, durable from 32 threads, buffered.

use crate::contestant::{BUFFERED, Contestant, DURABLE, Sink};
use crate::draft::Draft;
use crate::figures::{Field, Series, head, number, row};
use crate::options::Options;
use crate::proof::Proof;
use std::sync::Barrier;
use std::time::{Duration, Instant};
use teamlog_benches::rounds::turns;

/// Number of threads that append at once.
pub const THREADS: usize = 32;

/// Returns the bytes that this process has written to the device.
fn written() -> u64 {
    let io = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    let line = io
        .lines()
        .find_map(|line| line.strip_prefix("write_bytes: "));
    line.and_then(|bytes| bytes.parse().ok()).unwrap_or(0)
}

/// Appends with threads that start together. Returns the time until the last thread is done, and the time of each call.
fn append(sink: &dyn Sink, shares: Vec<Vec<Draft>>) -> (Duration, Vec<Duration>) {
    let start = Barrier::new(shares.len() + 1);
    std::thread::scope(|scope| {
        let start = &start;
        let spawn = |share: Vec<Draft>| {
            scope.spawn(move || {
                let mut append = sink.appender();
                let mut calls = Vec::with_capacity(share.len());
                start.wait();
                for draft in share {
                    let called = Instant::now();
                    append(draft);
                    calls.push(called.elapsed());
                }
                calls
            })
        };
        let threads: Vec<_> = shares.into_iter().map(spawn).collect();
        start.wait();
        let started = Instant::now();
        let calls = threads.into_iter().map(|thread| thread.join().unwrap());
        let calls = calls.collect::<Vec<_>>().concat();
        (started.elapsed(), calls)
    })
}

/// Figure of a row: the median call, or the time per event.
enum Cost {
    Call,
    Event,
}

fn measure<'a>(
    contestants: &'a [Contestant],
    (threads, each): (usize, impl Fn(Contestant) -> usize),
    (durable, cost): (bool, Cost),
    options: &Options,
) -> Field<'a> {
    let open = |one: &Contestant| one.sink(&options.fresh(), durable);
    let sinks: Vec<Box<dyn Sink>> = contestants.iter().map(open).collect();
    let mut next = vec![1; contestants.len()];
    let mut field = vec![Series::default(); contestants.len()];
    turns(options.rounds(), contestants.len(), |round, at| {
        let (one, each) = (contestants[at], each(contestants[at]));
        let first = next[at];
        next[at] += (threads * each) as u64;
        let drafts: Vec<u64> = (first..next[at]).collect();
        let shares = drafts
            .chunks(each)
            .map(|share| share.iter().map(|seq| one.draft(*seq)).collect())
            .collect();
        let before = written();
        let (took, mut calls) = append(&*sinks[at], shares);
        let written = written() - before;
        sinks[at].settle();
        if round == 0 {
            return;
        }
        let series = &mut field[at];
        series.written += written;
        series.events += (threads * each) as u64;
        calls.sort_unstable();
        series.rounds.push(match cost {
            Cost::Call => calls[calls.len() / 2].as_secs_f64(),
            Cost::Event => took.as_secs_f64() / (threads * each) as f64,
        });
        series.calls.extend(calls);
    });
    Field(contestants, field.into_iter().map(Series::sorted).collect())
}

fn kib(series: &Series) -> String {
    number(series.written as f64 / series.events as f64 / 1024.0)
}

/// Measures one thread whose appends are durable.
pub fn one(options: &Options) {
    if !options.begins("One durable append") {
        return;
    }
    let contestants: Vec<Contestant> = DURABLE
        .iter()
        .copied()
        .filter(|one| !is_group(*one) && *one != Contestant::UmadbWriter)
        .collect();
    let each = if options.quick { 100 } else { 400 };
    let field = measure(&contestants, (1, |_| each), (true, Cost::Call), options);
    let floors = [Contestant::Growing, Contestant::Prewritten].map(|floor| field.index(floor));
    head(&[
        "contestant",
        "p50 us",
        "p99 us",
        "max us",
        "KiB to disk",
        "writes",
        "syncs",
        "x best peer",
        "x growing",
        "x pre-written",
    ]);
    for (at, one) in contestants.iter().enumerate() {
        let series = &field.1[at];
        let proof = Proof::measure(*one, 1, 64, options);
        row([
            field.name(at),
            number(series.cost().unwrap_or_default() * 1e6),
            series.call(0.99),
            series.call(1.0),
            kib(series),
            proof.writes(),
            proof.syncs(),
            field.ratio(at, field.best_peer()),
            field.ratio(at, floors[0]),
            field.ratio(at, floors[1]),
        ]);
    }
}

fn is_group(one: Contestant) -> bool {
    [Contestant::GroupGrowing, Contestant::GroupPrewritten].contains(&one)
}

/// Measures many threads whose appends are durable.
pub fn many(options: &Options) {
    if !options.begins(&format!("{THREADS} threads, each append durable")) {
        return;
    }
    let each = if options.quick { 20 } else { 50 };
    // UmaDB's core has one writer at a time; its writer thread collects the appends of several threads.
    let contestants: Vec<Contestant> = DURABLE
        .iter()
        .copied()
        .filter(|one| *one != Contestant::Umadb)
        .collect();
    let field = measure(
        &contestants,
        (THREADS, |_| each),
        (true, Cost::Event),
        options,
    );
    let floors =
        [Contestant::GroupGrowing, Contestant::GroupPrewritten].map(|floor| field.index(floor));
    head(&[
        "contestant",
        "k/s",
        "p50 us",
        "p99 us",
        "max us",
        "KiB to disk",
        "events a sync",
        "x best peer",
        "x hand group growing",
        "x hand group pre-written",
    ]);
    for (at, one) in contestants.iter().enumerate() {
        let series = &field.1[at];
        let proof = Proof::measure(*one, THREADS, 16, options);
        row([
            field.name(at),
            number(1e-3 / series.cost().unwrap_or_default()),
            series.call(0.5),
            series.call(0.99),
            series.call(1.0),
            kib(series),
            proof.events_a_sync(),
            field.ratio(at, field.best_peer()),
            field.ratio(at, floors[0]),
            field.ratio(at, floors[1]),
        ]);
    }
}

/// Measures one thread that appends without waiting.
pub fn buffered(options: &Options) {
    if !options.begins("Buffered append") {
        return;
    }
    // Some contestants append and commit to their files each time.
    let each = |one: Contestant| match one {
        Contestant::Redb | Contestant::Sqlite => 4_000,
        _ if options.quick => 20_000,
        _ => 50_000,
    };
    let field = measure(BUFFERED, (1, each), (false, Cost::Event), options);
    let floor = field.index(Contestant::Written);
    head(&[
        "contestant",
        "k/s",
        "p50 us",
        "p99.9 us",
        "max us",
        "x best peer",
        "x bare, with CRC",
    ]);
    for at in 0..BUFFERED.len() {
        let series = &field.1[at];
        row([
            field.name(at),
            number(1e-3 / series.cost().unwrap_or_default()),
            series.call(0.5),
            series.call(0.999),
            series.call(1.0),
            field.ratio(at, field.best_peer()),
            field.ratio(at, floor),
        ]);
    }
}
