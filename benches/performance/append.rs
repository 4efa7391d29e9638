//! Measures appends: durable from one thread, durable from 32 threads, buffered.

use crate::options::Options;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;
use teamlog_benches::events;
use teamlog_benches::group_commit::GroupCommit;
use teamlog_benches::rounds::{Contestant, run, timed};
use teamlog_benches::table::{Target, row};
use teamlog_benches::workspace::log;
use teamlog_engine::internals::codec::encode_group;
use teamlog_engine::{Durability, Format, NewEvent, Writer};

const THREADS: usize = 32;

/// Prints the rows about appending.
pub fn rows(options: &Options) {
    options.both("T2 one durable append", |name, format| {
        one_durable(name, format, options);
    });
    options.both("T3 32 threads, each append durable", |name, format| {
        many_durable(name, format, options);
    });
    options.both("T7 buffered append", |name, format| {
        buffered(name, format, options);
    });
}

fn writer(root: &Path, format: Format) -> Writer<()> {
    log(root, format).lock().unwrap().into_writer(())
}

/// Returns the frame of each event in the format.
fn frames(format: Format, count: u64) -> Vec<Vec<u8>> {
    let frame = |seq| {
        let mut frame = Vec::new();
        encode_group(format, &[events::event(seq)], &mut frame);
        frame
    };
    (1..=count).map(frame).collect()
}

fn file(root: &Path) -> File {
    File::create_new(root.join("bare")).unwrap()
}

fn one_durable(name: &str, format: Format, options: &Options) {
    const APPENDS: usize = 16;
    let dir = options.fresh();
    let writer = writer(&dir, format);
    let (bare, mut end) = (file(&dir), 0);
    let frames = frames(format, APPENDS as u64);
    let floor: Contestant<'_> = Box::new(|| {
        timed(|| {
            for frame in &frames {
                bare.write_all_at(frame, end).unwrap();
                bare.sync_data().unwrap();
                end += frame.len() as u64;
            }
        })
    });
    let ours: Contestant<'_> = Box::new(|| {
        let events: Vec<NewEvent> = (1..=APPENDS as u64).map(events::new_event).collect();
        timed(|| {
            for event in events {
                writer.append(vec![event], Durability::Synced).unwrap();
            }
        })
    });
    let times = run(options.rounds(101), vec![floor, ours]);
    times.row(name, Target::AtLeast(0.85), APPENDS as u32, " an append");
}

/// Starts `THREADS` threads together. Each thread does `work` on its share. Returns the time until all threads are done.
fn threads<T: Send>(shares: Vec<Vec<T>>, work: impl Fn(T) + Sync) -> Duration {
    let start = std::sync::Barrier::new(shares.len() + 1);
    std::thread::scope(|scope| {
        let (start, work) = (&start, &work);
        let spawn = |share: Vec<T>| {
            scope.spawn(move || {
                start.wait();
                share.into_iter().for_each(work);
            })
        };
        let handles: Vec<_> = shares.into_iter().map(spawn).collect();
        start.wait();
        timed(|| {
            handles
                .into_iter()
                .for_each(|thread| thread.join().unwrap())
        })
    })
}

fn many_durable(name: &str, format: Format, options: &Options) {
    const EACH: usize = 50;
    let dir = options.fresh();
    let writer = writer(&dir, format);
    let bare = GroupCommit::new(file(&dir));
    let frames = frames(format, (THREADS * EACH) as u64);
    let floor: Contestant<'_> = Box::new(|| {
        let shares = frames
            .chunks(EACH)
            .map(|share| share.iter().collect())
            .collect();
        threads(shares, |frame: &Vec<u8>| bare.append(frame))
    });
    let ours: Contestant<'_> = Box::new(|| {
        let share = |thread: usize| {
            let first = (thread * EACH) as u64;
            (first + 1..=first + EACH as u64)
                .map(events::new_event)
                .collect()
        };
        let shares: Vec<Vec<NewEvent>> = (0..THREADS).map(share).collect();
        threads(shares, |event| {
            writer.append(vec![event], Durability::Synced).unwrap();
        })
    });
    let times = run(options.rounds(25), vec![floor, ours]);
    let rate = |at| (THREADS * EACH) as f64 / times.median(at).as_secs_f64() / 1e3;
    let detail = format!("{:.1} k/s against {:.1} k/s", rate(1), rate(0));
    row(name, Target::AtLeast(0.8), times.ratio(0, 1), " x", &detail);
}

fn buffered(name: &str, format: Format, options: &Options) {
    const APPENDS: u64 = 20_000;
    let dir = options.fresh();
    let writer = writer(&dir, format);
    let lines: Vec<events::Line> = (1..=APPENDS).map(events::line).collect();
    let news: Vec<NewEvent> = (1..=APPENDS).map(events::new_event).collect();
    let mut out: Vec<u8> = Vec::with_capacity(16 << 20);
    let serde: Contestant<'_> = Box::new(|| {
        out.clear();
        timed(|| {
            for line in &lines {
                serde_json::to_writer(&mut out, line).unwrap();
                out.push(b'\n');
            }
        })
    });
    let ours: Contestant<'_> = Box::new(|| {
        let events = news.clone();
        let took = timed(|| {
            for event in events {
                writer.append(vec![event], Durability::Buffered).unwrap();
            }
        });
        writer.sync().unwrap();
        took
    });
    let times = run(options.rounds(21), vec![serde, ours]);
    times.row(name, Target::AtLeast(0.5), APPENDS as u32, " an event");
}
