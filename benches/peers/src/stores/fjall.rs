//! fjall: events by number, and a keyspace of traces.

use crate::contestant::{Appender, Depth, History, Sink, parts, take};
use crate::draft::{Record, record};
use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};
use std::path::Path;

const BATCH: u64 = 1_000;

pub struct Fjall {
    database: Database,
    events: Keyspace,
    traces: Keyspace,
    durable: bool,
}

impl Fjall {
    pub fn open(dir: &Path, durable: bool) -> Fjall {
        let database = Database::builder(dir.join("fjall")).open().unwrap();
        let keyspace = |name| database.keyspace(name, KeyspaceCreateOptions::default);
        Fjall {
            events: keyspace("events").unwrap(),
            traces: keyspace("traces").unwrap(),
            database,
            durable,
        }
    }

    fn write(&self, records: impl Iterator<Item = Record>, durable: bool) {
        let mode = durable.then_some(PersistMode::SyncData);
        let mut batch = self.database.batch().durability(mode);
        for record in records {
            let number = record.seq.to_be_bytes();
            let posting = [record.trace.as_bytes(), &[0], &number].concat();
            batch.insert(&self.traces, posting, []);
            batch.insert(&self.events, number, record.line);
        }
        batch.commit().unwrap();
    }
}

impl Sink for Fjall {
    fn appender(&self) -> Appender<'_> {
        Box::new(|draft| self.write(std::iter::once(draft.record()), self.durable))
    }
}

impl History for Fjall {
    fn scan(&self, depth: Depth, threads: u64) -> Option<u64> {
        let last = self.events.last_key_value()?.key().unwrap();
        let last = u64::from_be_bytes(last[..].try_into().unwrap());
        Some(parts(last + 1, threads, |part| {
            let range = part.start.to_be_bytes()..part.end.to_be_bytes();
            let read = |entry: fjall::Guard| take(&entry.value().unwrap(), depth);
            self.events.range(range).map(read).count() as u64
        }))
    }

    fn trace(&self, id: &str) -> Option<usize> {
        let prefix = [id.as_bytes(), &[0]].concat();
        let read = |posting: fjall::Guard| {
            let posting = posting.key().unwrap();
            let line = self.events.get(&posting[prefix.len()..]).unwrap();
            take(&line.unwrap(), Depth::Records);
        };
        Some(self.traces.prefix(&prefix).map(read).count())
    }
}

pub fn load(dir: &Path, count: u64) {
    let fjall = Fjall::open(dir, true);
    for first in (0..count).step_by(BATCH as usize) {
        let last = (first + BATCH).min(count);
        fjall.write((first..last).map(record), last == count);
    }
}
