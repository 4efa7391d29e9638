//! raft-engine: each thread has its own group, as in typical use. A history is one group.

use crate::contestant::{Appender, Depth, History, Sink, parts, take};
use crate::draft::record;
use protobuf::well_known_types::BytesValue;
use raft_engine::{Config, Engine, LogBatch, MessageExt};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

const HISTORY: u64 = 1;
const BATCH: u64 = 1_000;

pub struct RaftEngine {
    engine: Engine,
    groups: AtomicU64,
    durable: bool,
}

/// The type of entries: an index and a line.
struct Lines;

impl MessageExt for Lines {
    type Entry = BytesValue;
    fn index(entry: &BytesValue) -> u64 {
        u64::from_be_bytes(entry.value[..8].try_into().unwrap())
    }
}

fn entry(index: u64, line: &[u8]) -> BytesValue {
    BytesValue {
        value: [&index.to_be_bytes(), line].concat(),
        ..BytesValue::default()
    }
}

impl RaftEngine {
    pub fn open(dir: &Path, durable: bool) -> RaftEngine {
        let config = Config {
            dir: dir.join("raft").display().to_string(),
            ..Config::default()
        };
        RaftEngine {
            engine: Engine::open(config).unwrap(),
            groups: AtomicU64::new(HISTORY + 1),
            durable,
        }
    }
}

impl Sink for RaftEngine {
    fn appender(&self) -> Appender<'_> {
        let group = self.groups.fetch_add(1, Ordering::Relaxed);
        let mut next = 0;
        Box::new(move |draft| {
            let mut batch = LogBatch::default();
            let entry = entry(next, &draft.record().line);
            batch.add_entries::<Lines>(group, &[entry]).unwrap();
            self.engine.write(&mut batch, self.durable).unwrap();
            next += 1;
        })
    }
}

impl History for RaftEngine {
    fn scan(&self, depth: Depth, threads: u64) -> Option<u64> {
        let count = self.engine.last_index(HISTORY)? + 1;
        Some(parts(count, threads, |part| {
            let (mut seen, mut entries) = (0, Vec::new());
            for from in part.clone().step_by(BATCH as usize) {
                let to = (from + BATCH).min(part.end);
                self.engine
                    .fetch_entries_to::<Lines>(HISTORY, from, to, None, &mut entries)
                    .unwrap();
                for entry in entries.drain(..) {
                    take(&entry.value[8..], depth);
                    seen += 1;
                }
            }
            seen
        }))
    }
}

pub fn load(dir: &Path, count: u64) {
    let raft = RaftEngine::open(dir, true);
    for first in (0..count).step_by(BATCH as usize) {
        let last = (first + BATCH).min(count);
        let entries: Vec<BytesValue> = (first..last)
            .map(|seq| entry(seq, &record(seq).line))
            .collect();
        let mut batch = LogBatch::default();
        batch.add_entries::<Lines>(HISTORY, &entries).unwrap();
        raft.engine.write(&mut batch, last == count).unwrap();
    }
}
