//! Notifications of changes of files (inotify).
//!
//! A watch belongs to a file, not to a path. So the paths are opened again after a file is replaced, renamed or removed. A
//! missing path is tried again at short intervals.

use super::Watcher;
use super::root_dir::RootDir;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::fs::{FileType, OFlags, fstat};
use rustix::io::Errno;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Interval for trying a missing path again.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Events for a replaced or removed name.
const NAMES: WatchFlags = WatchFlags::MOVE_SELF.union(WatchFlags::DELETE_SELF);
/// Events to watch on a file. These events are writes, and changes of attributes: if a name of an open file is removed, the
/// file's number of names changes. On a directory, the events would report every file in the directory.
const CONTENT: WatchFlags = WatchFlags::MODIFY.union(WatchFlags::ATTRIB);

#[derive(Debug)]
pub(super) struct InotifyWatcher {
    root_dir: Arc<RootDir>,
    paths: Vec<PathBuf>,
    queue: OwnedFd,
    /// True if every path existed at the last check.
    complete: bool,
}

impl InotifyWatcher {
    pub(super) fn new(root_dir: Arc<RootDir>, paths: &[&Path]) -> io::Result<InotifyWatcher> {
        let queue = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let paths = paths.iter().map(|path| path.to_path_buf()).collect();
        let mut watcher = InotifyWatcher {
            root_dir,
            paths,
            queue,
            complete: false,
        };
        watcher.look_up()?;
        Ok(watcher)
    }

    fn look_up(&mut self) -> io::Result<()> {
        self.complete = true;
        for path in &self.paths {
            self.complete &= self.add(path)?;
        }
        Ok(())
    }

    /// Watches the file at `path`; returns false if the file is missing. A second watch on a file changes nothing.
    fn add(&self, path: &Path) -> io::Result<bool> {
        let thing = match self.root_dir.open(path, OFlags::PATH) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            thing => thing?,
        };
        let flags = match FileType::from_raw_mode(fstat(&thing)?.st_mode) {
            FileType::Directory => NAMES,
            _ => NAMES | CONTENT,
        };
        // Watch through the handle, because the path could lead out of the root by now.
        let handle = format!("/proc/self/fd/{}", thing.as_raw_fd());
        match inotify::add_watch(&self.queue, handle, flags) {
            // The system has no `/proc`, so there are no notifications.
            Err(Errno::NOENT) => Err(io::ErrorKind::Unsupported.into()),
            answer => Ok(answer.map(|_| true)?),
        }
    }

    /// Takes all queued notifications; returns true if any of them is not only a write.
    fn drain(&self) -> io::Result<bool> {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut queued = inotify::Reader::new(&self.queue, &mut buffer);
        let mut moved = false;
        loop {
            match queued.next() {
                Ok(event) => moved |= event.events() != ReadFlags::MODIFY,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(moved),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Watcher for InotifyWatcher {
    fn wait(&mut self, timeout: Duration) -> io::Result<()> {
        let timeout = match self.complete {
            true => timeout,
            false => timeout.min(LOOK_AGAIN),
        };
        let timeout = Timespec {
            tv_sec: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: timeout.subsec_nanos().into(),
        };
        let mut fds = [PollFd::new(&self.queue, PollFlags::IN)];
        // If a signal interrupts the wait, the caller wakes although nothing changed.
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if self.drain()? || !self.complete {
            self.look_up()?;
        }
        Ok(())
    }
}
