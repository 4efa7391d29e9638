//! Waiting for a log to grow.
//!
//! A watch remembers what the head and the identity looked like, so it answers by comparison; what the storage tells of
//! changes is only a reason to look again. Where it tells of none, looking at short intervals has to do.

use crate::error::{Error, Result};
use crate::layout::{HEAD_FILE, LOG_FILE};
use crate::storage::{Storage, Watcher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// How often the files are looked at where nothing tells of changes.
const POLL: Duration = Duration::from_millis(20);
/// How often where something does: a layered file system may swap a file without telling.
const RECHECK: Duration = Duration::from_secs(5);
/// Neither file is longer.
const BYTES_MAX: u64 = 64 << 10;

/// What a log looks like from outside; `None` for a file that is not there.
type Look = [Option<Vec<u8>>; 2];

/// Notices when the head of a log moves, or another log takes its place. Holds no lock.
#[derive(Debug)]
pub struct Watch {
    storage: Arc<dyn Storage>,
    paths: [PathBuf; 2],
    seen: Look,
    watcher: Option<Box<dyn Watcher>>,
    looks: u64,
}

impl Watch {
    pub(crate) fn new(storage: Arc<dyn Storage>, dir: &Path) -> Result<Watch> {
        let paths = [dir.join(HEAD_FILE), dir.join(LOG_FILE)];
        let [head, log] = &paths;
        // Where the system has no more watches to give, looking does as well.
        let watcher = storage.watch(&[head, log, dir]).ok();
        let mut watch = Watch {
            storage,
            paths,
            seen: Look::default(),
            watcher,
            looks: 0,
        };
        watch.seen = watch.look()?;
        Ok(watch)
    }

    /// Waits until the head may have moved since the last call (the first: since the watch was made), at most
    /// `timeout`; `None` waits for ever. Whether it may have.
    ///
    /// # Errors
    /// I/O.
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<bool> {
        let started = Instant::now();
        loop {
            let now = self.look()?;
            if now != self.seen {
                self.seen = now;
                return Ok(true);
            }
            let left = timeout.map(|timeout| timeout.saturating_sub(started.elapsed()));
            if left == Some(Duration::ZERO) {
                return Ok(false);
            }
            self.doze(left.unwrap_or(Duration::MAX));
        }
    }

    /// How often it has looked at the files: what following costs.
    pub fn looks(&self) -> u64 {
        self.looks
    }

    fn doze(&mut self, left: Duration) {
        let Some(watcher) = &mut self.watcher else {
            return thread::sleep(left.min(POLL));
        };
        if watcher.doze(left.min(RECHECK)).is_err() {
            self.watcher = None;
        }
    }

    fn look(&mut self) -> Result<Look> {
        self.looks += 1;
        let mut look = Look::default();
        for (path, bytes) in self.paths.iter().zip(&mut look) {
            *bytes = match self.storage.read(path, BYTES_MAX) {
                Ok(bytes) => Some(bytes),
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                // It was cut while it was read.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => None,
                Err(error) => return Err(Error::io("read", path)(error)),
            };
        }
        Ok(look)
    }
}
