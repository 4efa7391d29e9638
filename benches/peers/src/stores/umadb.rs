//! UmaDB's core: an event store with queries by type and tag. Each event has the trace as its tag. Every append is durable.

use crate::contestant::{Appender, Depth, History, Sink, take};
use crate::draft::{Record, record};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::sync::{mpsc, oneshot, watch};
use umadb_core::db::UmaDb;
use umadb_core::mvcc::{Mvcc, StorageOptions};
use umadb_core::writer_thread_blocking::writer_thread_blocking;
use umadb_core::writer_thread_request::WriterThreadRequest;
use umadb_dcb::{DcbEvent, DcbEventStoreSync, DcbQuery, DcbQueryItem};

const FILE: &str = "uma.db";
const KIND: &str = "step_taken";
const BATCH: u64 = 10_000;
/// Number of events that a scan reads at once.
const PAGE: u32 = 10_000;
/// Queue and largest batch of the writer thread, as in UmaDB's server.
const QUEUE: usize = 1_024;
const BATCH_MAX: usize = 2_048;

/// The store, with one append per commit.
pub struct Umadb(UmaDb);

impl Umadb {
    pub fn open(dir: &Path) -> Umadb {
        Umadb(UmaDb::new(dir.join(FILE)).unwrap())
    }

    /// Returns the store.
    pub fn store(&self) -> &UmaDb {
        &self.0
    }
}

fn event(record: Record) -> DcbEvent {
    let tags = [format!("trace:{}", record.trace)];
    DcbEvent::new()
        .event_type(KIND)
        .data(record.line)
        .tags(tags)
}

impl Sink for Umadb {
    fn appender(&self) -> Appender<'_> {
        Box::new(|draft| {
            let events = vec![event(draft.record())];
            self.0.append(events, None, None).unwrap();
        })
    }
}

impl History for Umadb {
    fn scan(&self, depth: Depth, threads: u64) -> Option<u64> {
        if threads > 1 {
            return None;
        }
        let (mut seen, mut next) = (0, Some(1));
        while let Some(start) = next {
            let page = self.0.read(None, Some(start), false, Some(PAGE)).unwrap();
            next = None;
            for read in page {
                let read = read.unwrap();
                take(&read.event.data, depth);
                seen += 1;
                next = Some(read.position + 1);
            }
        }
        Some(seen)
    }

    fn trace(&self, id: &str) -> Option<usize> {
        let item = DcbQueryItem::new().tags([format!("trace:{id}")]);
        let query = DcbQuery::new().item(item);
        let found = self.0.read(Some(query), None, false, None).unwrap();
        let found = found.map(|read| take(&read.unwrap().event.data, Depth::Records));
        Some(found.count())
    }
}

pub fn load(dir: &Path, count: u64) {
    let umadb = Umadb::open(dir);
    for first in (0..count).step_by(BATCH as usize) {
        let events = (first..(first + BATCH).min(count)).map(|seq| event(record(seq)));
        umadb.0.append(events.collect(), None, None).unwrap();
    }
}

/// The writer thread of UmaDB's server, which commits the appends of several threads together.
pub struct UmadbWriter {
    requests: mpsc::Sender<WriterThreadRequest>,
    thread: Option<JoinHandle<()>>,
}

impl UmadbWriter {
    pub fn open(dir: &Path) -> UmadbWriter {
        let options = StorageOptions::default().db_path(dir.join(FILE));
        let mvcc = Arc::new(Mvcc::new(false, options).unwrap());
        let (requests, receiver) = mpsc::channel(QUEUE);
        let thread = std::thread::spawn(move || {
            let (head, _) = watch::channel(None);
            writer_thread_blocking(mvcc, receiver, head, BATCH_MAX);
        });
        UmadbWriter {
            requests,
            thread: Some(thread),
        }
    }
}

impl Sink for UmadbWriter {
    fn appender(&self) -> Appender<'_> {
        Box::new(|draft| {
            let (response_tx, answer) = oneshot::channel();
            let request = WriterThreadRequest::Append {
                events: vec![event(draft.record())],
                condition: None,
                tracking_info: None,
                response_tx,
                cancel: None,
            };
            assert!(self.requests.blocking_send(request).is_ok());
            answer.blocking_recv().unwrap().unwrap();
        })
    }
}

impl Drop for UmadbWriter {
    fn drop(&mut self) {
        let sent = self.requests.blocking_send(WriterThreadRequest::Shutdown);
        if let (Ok(()), Some(thread)) = (sent, self.thread.take()) {
            let _ = thread.join();
        }
    }
}
