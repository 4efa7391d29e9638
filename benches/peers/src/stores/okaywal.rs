//! okaywal: one entry per event, group commit, reused segments. A recovery reads the history. An entry of the history has a
//! thousand events, because each entry costs a sync.

use crate::contestant::{Appender, Depth, History, Sink, take};
use crate::draft::record;
use okaywal::{
    Configuration, Entry, EntryId, LogManager, LogVoid, ReadChunkResult, SegmentReader,
    WriteAheadLog,
};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const CHUNKS: u64 = 1_000;

pub enum Okaywal {
    Log(WriteAheadLog),
    Kept(PathBuf),
}

impl Okaywal {
    /// Opens a log with okaywal's defaults, and without a reader of recycled segments.
    pub fn create(dir: &Path) -> Okaywal {
        Okaywal::Log(WriteAheadLog::recover(dir.join("wal"), LogVoid).unwrap())
    }

    /// Opens a log. Opening recovers the log, and therefore reads all entries.
    pub fn open(dir: &Path) -> Okaywal {
        let okaywal = Okaywal::Kept(dir.to_owned());
        okaywal.scan(Depth::Records, 1);
        okaywal
    }
}

impl Sink for Okaywal {
    fn appender(&self) -> Appender<'_> {
        let Okaywal::Log(log) = self else {
            unreachable!("a history is not appended to");
        };
        Box::new(|draft| {
            let mut entry = log.begin_entry().unwrap();
            entry.write_chunk(&draft.record().line).unwrap();
            entry.commit().unwrap();
        })
    }
}

/// Opens a log that never recycles segments.
fn kept(dir: &Path, reader: impl LogManager) -> WriteAheadLog {
    Configuration::default_for(dir.join("wal"))
        .checkpoint_after_bytes(u64::MAX)
        .open(reader)
        .unwrap()
}

#[derive(Debug)]
struct Reads {
    depth: Depth,
    seen: Arc<AtomicU64>,
}

impl LogManager for Reads {
    fn recover(&mut self, entry: &mut Entry<'_>) -> io::Result<()> {
        while let ReadChunkResult::Chunk(mut chunk) = entry.read_chunk()? {
            let line = chunk.read_all()?;
            assert!(chunk.check_crc()?);
            take(&line, self.depth);
            self.seen.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    fn checkpoint_to(
        &mut self,
        _: EntryId,
        _: &mut SegmentReader,
        _: &WriteAheadLog,
    ) -> io::Result<()> {
        Ok(())
    }
}

impl History for Okaywal {
    fn scan(&self, depth: Depth, threads: u64) -> Option<u64> {
        let Okaywal::Kept(dir) = self else {
            unreachable!("this is no history");
        };
        if threads > 1 {
            return None;
        }
        let seen = Arc::new(AtomicU64::new(0));
        let reads = Reads {
            depth,
            seen: seen.clone(),
        };
        kept(dir, reads).shutdown().unwrap();
        Some(seen.load(Ordering::Relaxed))
    }
}

pub fn load(dir: &Path, count: u64) {
    let log = kept(dir, LogVoid);
    for first in (0..count).step_by(CHUNKS as usize) {
        let mut entry = log.begin_entry().unwrap();
        for seq in first..(first + CHUNKS).min(count) {
            entry.write_chunk(&record(seq).line).unwrap();
        }
        entry.commit().unwrap();
    }
    log.shutdown().unwrap();
}
