//! Prints figures for people: `cargo test --release -p teamlog-engine derived::tests::measure -- --ignored --nocapture`.

use super::*;
use std::hint::black_box;
use std::time::Instant;

const EVENTS: u64 = 1_000_000;
const FLUSH: u64 = 512;

/// Returns the average duration of `each`, in ns.
fn ns(rounds: u64, mut each: impl FnMut(u64)) -> f64 {
    let start = Instant::now();
    for round in 0..rounds {
        each(round);
    }
    start.elapsed().as_nanos() as f64 / rounds as f64
}

fn message(number: u64) -> String {
    format!("{:016x}", filter_like(number))
}
fn filter_like(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
fn trace(number: u64) -> String {
    format!("trace-{:012x}", filter_like(number) >> 16)
}

/// Returns the changes of one flush. Each event is a message to one of 50 agents, in a trace of 20 messages.
fn changes(first: u64) -> Changes {
    let mut changes = Changes::new();
    for seq in first..first + FLUSH {
        let mut put = |key: Vec<u8>, value: Vec<u8>| changes.insert(key, Some(value));
        put(series_key(0xf0, &trace(seq % (EVENTS / 20)), seq), vec![]);
        put(series_key(0xf3, &message(seq), seq), vec![]);
        put(
            series_key(0xf2, &format!("agent-{}", seq % 50), seq),
            vec![],
        );
        put(
            series_key(0x80, &format!("agent-{}", seq % 50), seq),
            vec![9; 24],
        );
        put([b"\x01", message(seq).as_bytes()].concat(), vec![9; 60]);
        put(
            format!("\u{2}task-{}", seq % 5000).into_bytes(),
            vec![9; 120],
        );
        put(b"\x03counters".to_vec(), vec![9; 100]);
    }
    changes
}

#[test]
#[ignore = "a measurement"]
fn a_million_events() {
    let (_dir, storage) = files();
    let mut store = open(&storage);
    let start = Instant::now();
    let (mut writing, mut merging) = (0.0, 0.0);
    for first in (1..=EVENTS).step_by(FLUSH as usize) {
        let changes = changes(first);
        writing += ns(1, |_| store = flush(&store, FLUSH, &changes)) / 1e6;
        merging += ns(1, |_| store = store.merge(u64::MAX).unwrap().unwrap()) / 1e6;
    }
    let bytes: u64 = store.runs().iter().map(|run| run.len).sum();
    println!(
        "build {:?} (write {writing:.0} ms, merge {merging:.0} ms), {} runs, {} MiB",
        start.elapsed(),
        store.runs().len(),
        bytes >> 20
    );
    let levels: Vec<u8> = store.runs().iter().map(|run| run.level).collect();
    println!("levels {levels:?}");
    figures(&storage);
    println!(
        "merge_all {:.0} ms",
        ns(1, |_| drop(store.merge_all().unwrap())) / 1e6
    );
    figures(&storage);
    println!("-- 1,000 events");
    let (_dir, storage) = files();
    let store = flush(&open(&storage), FLUSH, &changes(1));
    flush(&store, FLUSH, &changes(FLUSH + 1));
    figures(&storage);
}

fn figures(storage: &Arc<dyn Storage>) {
    let events = open(storage).covered().unwrap().seq;
    let pick = |round: u64| filter_like(round) % events + 1;
    println!(
        "open            {:>8.0} ns",
        ns(200, |_| drop(black_box(open(storage))))
    );
    println!(
        "open, first trace {:>6.0} ns",
        ns(200, |round| {
            let store = open(storage);
            let name = trace(pick(round) % (EVENTS / 20));
            black_box(scan_series(&store, &name));
        })
    );
    let store = open(storage);
    let key = |number: u64| [b"\x01", message(number).as_bytes()].concat();
    for _ in 0..2 {
        println!(
            "get hit         {:>8.0} ns",
            ns(100_000, |round| assert!(
                store.get(&key(pick(round))).unwrap().is_some()
            ))
        );
    }
    println!(
        "get miss        {:>8.0} ns",
        ns(100_000, |round| assert!(
            store.get(&key(round + (1 << 40))).unwrap().is_none()
        ))
    );
    println!(
        "get newest      {:>8.0} ns",
        ns(100_000, |_| assert!(
            store.get(b"\x03counters").unwrap().is_some()
        ))
    );
    println!(
        "place           {:>8.0} ns",
        ns(100_000, |round| assert!(
            store.place(pick(round)).unwrap().is_some()
        ))
    );
    println!(
        "trace of 20     {:>8.0} ns",
        ns(20_000, |round| {
            black_box(scan_series(&store, &trace(pick(round) % (EVENTS / 20))));
        })
    );
    println!(
        "last 20 of inbox{:>8.0} ns",
        ns(20_000, |round| {
            let from = key::series(0x80, format!("agent-{}", round % 50).as_bytes());
            let to = [from.as_slice(), &[0xff; 8]].concat();
            black_box(store.scan(&from, &to, true).take(20).count());
        })
    );
    println!(
        "20 tasks        {:>8.0} ns",
        ns(20_000, |round| {
            let from = format!("\u{2}task-{}", round % 5000).into_bytes();
            black_box(store.scan(&from, &[3], false).take(20).count());
        })
    );
    let mut count = 0_u64;
    let all = ns(1, |_| {
        count = store.scan(&[0], &[0xff], false).count() as u64
    });
    println!(
        "walk            {:>8.0} ns an entry, {count} entries",
        all / count as f64
    );
}

fn scan_series(store: &Store, name: &str) -> usize {
    let from = key::series(0xf0, name.as_bytes());
    let to = [from.as_slice(), &[0xff; 8]].concat();
    store.scan(&from, &to, false).count()
}
