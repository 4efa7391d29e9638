//! Waits for a log to grow.
//!
//! A watch remembers the bytes of the head file and of `log.json`, and compares them with the files. It can also watch further
//! files, of which it compares size, identity and times. A notification of the storage only triggers a comparison. Without
//! notifications, the watch compares at short intervals.

use crate::prelude::*;
use crate::storage::{Stat, Watcher, if_long_enough, if_there};
use std::thread;
use std::time::Instant;

/// Interval for reading the files without notifications.
const POLL: Duration = Duration::from_millis(20);
/// Interval for reading the files if there are notifications: a layered file system may replace a file without notifying.
const RECHECK: Duration = Duration::from_secs(5);
/// Size limit for the head file and for `log.json`.
const BYTES_MAX: u64 = 64 << 10;

/// The contents of the head and the identity, and the state of each further file; `None` for a missing file.
#[derive(Debug, Default, PartialEq, Eq)]
struct Contents {
    log: [Option<Vec<u8>>; 2],
    others: Vec<Option<Stat>>,
}

/// Notices when the head of a log moves, or another log takes its place. Holds no lock.
#[derive(Debug)]
pub struct Watch {
    storage: Arc<dyn Storage>,
    paths: [PathBuf; 2],
    others: Vec<PathBuf>,
    seen: Contents,
    watcher: Option<Box<dyn Watcher>>,
    looks: u64,
}

impl Watch {
    pub(crate) fn new(
        storage: Arc<dyn Storage>,
        dir: &Path,
        others: Vec<PathBuf>,
    ) -> Result<Watch> {
        let paths = [dir.join(HEAD_FILE), dir.join(LOG_FILE)];
        let [head, log] = &paths;
        let mut watched = vec![head.as_path(), log.as_path(), dir];
        watched.extend(others.iter().map(PathBuf::as_path));
        // If the system has no notifications left, the storage returns no watcher, and this watch reads the files at short intervals.
        let watcher = storage.watch(&watched).ok();
        let mut watch = Watch {
            storage,
            paths,
            others,
            seen: Contents::default(),
            watcher,
            looks: 0,
        };
        watch.seen = watch.look()?;
        Ok(watch)
    }

    /// Waits at most `timeout` until the head may have moved after the last call (or after the watch was created), or until a
    /// further file changed; `None` waits for ever. Returns true if there may be a change.
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
            self.wait_for_notice(left.unwrap_or(Duration::MAX));
        }
    }

    /// Returns the number of times that the watch has read the files.
    pub fn looks(&self) -> u64 {
        self.looks
    }

    fn wait_for_notice(&mut self, left: Duration) {
        let Some(watcher) = &mut self.watcher else {
            return thread::sleep(left.min(POLL));
        };
        if watcher.wait(left.min(RECHECK)).is_err() {
            self.watcher = None;
        }
    }

    fn look(&mut self) -> Result<Contents> {
        self.looks += 1;
        let mut look = Contents::default();
        for path in &self.others {
            let stat = self
                .storage
                .stat(path)
                .map_err(Error::io("look at", path))?;
            look.others.push(stat);
        }
        for (path, bytes) in self.paths.iter().zip(&mut look.log) {
            let read = self.storage.read(path, BYTES_MAX);
            // Another process may cut the file during the read.
            let read = if_long_enough(read.map_err(Error::io("read", path)));
            *bytes = if_there(read)?.flatten();
        }
        Ok(look)
    }
}
