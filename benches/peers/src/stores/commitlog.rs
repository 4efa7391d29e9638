//! commitlog. This store never syncs its segments (its `flush` syncs only the index), so its durable appends are not measured.

use crate::contestant::{Appender, Depth, History, Sink, parts, take};
use crate::draft::record;
use commitlog::message::MessageSet;
use commitlog::{CommitLog, LogOptions, ReadLimit};
use std::path::Path;
use std::sync::Mutex;

const PIECE: usize = 1 << 18;

pub struct Commitlog(Mutex<CommitLog>);

impl Commitlog {
    pub fn open(dir: &Path) -> Commitlog {
        let log = CommitLog::new(LogOptions::new(dir.join("log"))).unwrap();
        Commitlog(Mutex::new(log))
    }
}

impl Sink for Commitlog {
    fn appender(&self) -> Appender<'_> {
        let mut log = self.0.lock().unwrap();
        Box::new(move |draft| {
            log.append_msg(draft.record().line).unwrap();
        })
    }
}

impl History for Commitlog {
    fn scan(&self, depth: Depth, threads: u64) -> Option<u64> {
        let log = self.0.lock().unwrap();
        let (log, count) = (&*log, log.next_offset());
        Some(parts(count, threads, |part| {
            let mut next = part.start;
            while next < part.end {
                let piece = log.read(next, ReadLimit::max_bytes(PIECE)).unwrap();
                for message in piece.iter().take_while(|one| one.offset() < part.end) {
                    take(message.payload(), depth);
                    next = message.offset() + 1;
                }
            }
            next - part.start
        }))
    }
}

pub fn load(dir: &Path, count: u64) {
    let commitlog = Commitlog::open(dir);
    let mut log = commitlog.0.lock().unwrap();
    for seq in 0..count {
        log.append_msg(record(seq).line).unwrap();
    }
    log.flush().unwrap();
}
