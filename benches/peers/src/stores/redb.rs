//! redb: a table of events by number, and a table of traces.

use crate::contestant::{Appender, Depth, History, Sink, parts, take};
use crate::draft::{Record, record};
use redb::{Database, Durability, ReadableDatabase, ReadableTable, TableDefinition};
use std::path::Path;

const EVENTS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("events");
const TRACES: TableDefinition<'_, (&str, u64), ()> = TableDefinition::new("traces");
const BATCH: u64 = 10_000;

pub struct Redb {
    database: Database,
    durable: bool,
}

impl Redb {
    pub fn open(dir: &Path, durable: bool) -> Redb {
        Redb {
            database: Database::create(dir.join("redb")).unwrap(),
            durable,
        }
    }

    fn write(&self, records: impl Iterator<Item = Record>, durable: bool) {
        let mut write = self.database.begin_write().unwrap();
        if !durable {
            write.set_durability(Durability::None).unwrap();
        }
        {
            let mut events = write.open_table(EVENTS).unwrap();
            let mut traces = write.open_table(TRACES).unwrap();
            for record in records {
                events.insert(record.seq, &*record.line).unwrap();
                traces.insert((&*record.trace, record.seq), ()).unwrap();
            }
        }
        write.commit().unwrap();
    }
}

impl Sink for Redb {
    fn appender(&self) -> Appender<'_> {
        Box::new(|draft| self.write(std::iter::once(draft.record()), self.durable))
    }
}

impl History for Redb {
    fn scan(&self, depth: Depth, threads: u64) -> Option<u64> {
        let events = self.database.begin_read().unwrap();
        let events = events.open_table(EVENTS).unwrap();
        let last = events.last().unwrap()?.0.value();
        Some(parts(last + 1, threads, |part| {
            let mut seen = 0;
            for entry in events.range(part).unwrap() {
                take(entry.unwrap().1.value(), depth);
                seen += 1;
            }
            seen
        }))
    }

    fn trace(&self, id: &str) -> Option<usize> {
        let read = self.database.begin_read().unwrap();
        let events = read.open_table(EVENTS).unwrap();
        let traces = read.open_table(TRACES).unwrap();
        let mut seen = 0;
        for posting in traces.range((id, 0)..=(id, u64::MAX)).unwrap() {
            let seq = posting.unwrap().0.value().1;
            take(events.get(seq).unwrap()?.value(), Depth::Records);
            seen += 1;
        }
        Some(seen)
    }
}

pub fn load(dir: &Path, count: u64) {
    let redb = Redb::open(dir, true);
    for first in (0..count).step_by(BATCH as usize) {
        let last = (first + BATCH).min(count);
        redb.write((first..last).map(record), last == count);
    }
}
