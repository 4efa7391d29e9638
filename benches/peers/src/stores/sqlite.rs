//! SQLite with a write-ahead log: a table of events by number, with an index of traces. Durable appends use `synchronous=FULL`,
//! others `NORMAL`.

use crate::contestant::{self, Appender, Depth, Sink, parts, take};
use crate::draft::{Record, record};
use rusqlite::{Connection, params};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

const FILE: &str = "sqlite";
const BATCH: u64 = 10_000;
const INSERT: &str = "INSERT INTO events (seq, trace, line) VALUES (?1, ?2, ?3)";

/// One connection that all threads share. This is faster than a connection for each thread.
pub struct Sqlite(Mutex<Connection>);

impl Sqlite {
    pub fn open(dir: &Path, durable: bool) -> Sqlite {
        let connection = Connection::open(dir.join(FILE)).unwrap();
        let synchronous = if durable { "FULL" } else { "NORMAL" };
        connection
            .execute_batch(&format!(
                "PRAGMA journal_mode=WAL; PRAGMA synchronous={synchronous};
                 CREATE TABLE IF NOT EXISTS events (seq INTEGER PRIMARY KEY, trace TEXT NOT NULL, line BLOB NOT NULL);
                 CREATE INDEX IF NOT EXISTS traces ON events (trace);"
            ))
            .unwrap();
        Sqlite(Mutex::new(connection))
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.0.lock().unwrap()
    }
}

fn insert(connection: &Connection, record: &Record) {
    let mut insert = connection.prepare_cached(INSERT).unwrap();
    insert
        .execute(params![record.seq as i64, record.trace, record.line])
        .unwrap();
}

impl Sink for Sqlite {
    fn appender(&self) -> Appender<'_> {
        Box::new(|draft| insert(&self.connection(), &draft.record()))
    }
}

/// A history; each thread reads the history with its own connection.
pub struct History {
    path: PathBuf,
    connection: Connection,
    count: u64,
}

impl History {
    pub fn open(dir: &Path, count: u64) -> History {
        let path = dir.join(FILE);
        let connection = Connection::open(&path).unwrap();
        // SQLite reads nothing before the first statement.
        connection
            .query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
            .unwrap();
        History {
            path,
            connection,
            count,
        }
    }
}

impl contestant::History for History {
    fn scan(&self, depth: Depth, threads: u64) -> Option<u64> {
        let path = &self.path;
        Some(parts(self.count, threads, |part| {
            let connection = Connection::open(path).unwrap();
            let select = "SELECT seq, trace, line FROM events WHERE seq >= ?1 AND seq < ?2";
            let mut select = connection.prepare(select).unwrap();
            let mut rows = select
                .query(params![part.start as i64, part.end as i64])
                .unwrap();
            let mut seen = 0;
            while let Some(row) = rows.next().unwrap() {
                take(row.get_ref(2).unwrap().as_blob().unwrap(), depth);
                seen += 1;
            }
            seen
        }))
    }

    fn trace(&self, id: &str) -> Option<usize> {
        let select = "SELECT line FROM events WHERE trace = ?1 ORDER BY seq";
        let mut select = self.connection.prepare_cached(select).unwrap();
        let mut rows = select.query([id]).unwrap();
        let mut seen = 0;
        while let Some(row) = rows.next().unwrap() {
            take(row.get_ref(0).unwrap().as_blob().unwrap(), Depth::Records);
            seen += 1;
        }
        Some(seen)
    }
}

pub fn load(dir: &Path, count: u64) {
    let sqlite = Sqlite::open(dir, true);
    let mut connection = sqlite.connection();
    for first in (0..count).step_by(BATCH as usize) {
        let batch = connection.transaction().unwrap();
        for seq in first..(first + BATCH).min(count) {
            insert(&batch, &record(seq));
        }
        batch.commit().unwrap();
    }
}
