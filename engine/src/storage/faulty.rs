//! A storage that fails on request: every call has a number, and faults are armed by number.
//!
//! A test runs its code once to count the calls. Then the test runs the code again for each number and fault, until the fault
//! is no longer reached. This covers every way in which the code could fail.

use super::{Bytes, File, HeldLock, LockError, OpenMode, Stat, Storage, Watcher};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Failure of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The call does nothing and fails with this kind.
    Error(io::ErrorKind),
    /// The call does nothing and fails with this error number of the system.
    Os(i32),
    /// A write writes the first half, then fails for lack of space (ENOSPC). Other calls succeed.
    ShortWrite,
    /// A write writes the first half of its bytes (at least one byte) and returns the length of that half, which a system may do
    /// at any time. Other calls succeed.
    PartialWrite,
    /// A read reads the first half of its bytes (at least one byte) and returns the length of that half, which a system may do at
    /// any time. Other calls succeed.
    ShortRead,
    /// The call and every later call fail without effect, as if the process had died right before the call. Earlier changes stay;
    /// [`Faulty::is_stop`] recognises the error.
    Stop,
}

/// Text of the error after [`Fault::Stop`].
const STOPPED: &str = "stopped by an injected fault";

/// Wraps another storage and the files opened through it, and injects faults into their calls. Clones share the counter
/// of calls and the armed faults.
#[derive(Debug, Clone)]
pub struct Faulty {
    inner: Arc<dyn Storage>,
    plan: Arc<Mutex<Plan>>,
}

#[derive(Debug, Default)]
struct Plan {
    calls: Vec<(&'static str, PathBuf)>,
    armed: BTreeMap<usize, Fault>,
    meanwhile: BTreeMap<usize, Meanwhile>,
    stopped: bool,
}

/// An action of another process between two calls.
struct Meanwhile(Box<dyn FnOnce() + Send>);

impl std::fmt::Debug for Meanwhile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Meanwhile")
    }
}

impl Faulty {
    /// Wraps `inner`; nothing fails until a fault is armed.
    pub fn new(inner: Arc<dyn Storage>) -> Faulty {
        Faulty {
            inner,
            plan: Arc::default(),
        }
    }

    /// Makes the call with this number fail. Calls are numbered from 0, beginning with the first call after `new`. Several
    /// numbers may be armed.
    pub fn arm(&self, index: usize, fault: Fault) {
        self.plan().armed.insert(index, fault);
    }

    /// Runs `deed` right before the call with this number, as an action of another process.
    pub fn meanwhile(&self, index: usize, deed: impl FnOnce() + Send + 'static) {
        let deed = Meanwhile(Box::new(deed));
        self.plan().meanwhile.insert(index, deed);
    }

    /// Returns the name and the path of every call so far. Names are the methods of the trait; a `stat` of an open file is
    /// `file_stat`. The path of a rename is the old path, and the path of a call on an open file is the path by which the file
    /// was opened.
    pub fn calls(&self) -> Vec<(&'static str, PathBuf)> {
        self.plan().calls.clone()
    }

    /// Returns the number of calls, including failed calls.
    pub fn count(&self) -> usize {
        self.plan().calls.len()
    }

    /// Returns true if an error comes from [`Fault::Stop`].
    pub fn is_stop(error: &io::Error) -> bool {
        error
            .get_ref()
            .is_some_and(|inner| inner.to_string() == STOPPED)
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a call. Returns the fault that the call itself must carry out, if any.
    fn call(&self, name: &'static str, path: &Path) -> io::Result<Option<Fault>> {
        let mut plan = self.plan();
        let index = plan.calls.len();
        plan.calls.push((name, path.to_owned()));
        if let Some(Meanwhile(deed)) = plan.meanwhile.remove(&index) {
            drop(plan);
            deed();
            plan = self.plan();
        }
        let fault = plan.armed.get(&index).copied();
        plan.stopped |= fault == Some(Fault::Stop);
        if plan.stopped {
            return Err(io::Error::other(STOPPED));
        }
        match fault {
            Some(Fault::Error(kind)) => Err(kind.into()),
            Some(Fault::Os(number)) => Err(io::Error::from_raw_os_error(number)),
            fault => Ok(fault),
        }
    }
}

/// Implements the methods that count a call, then call the wrapped storage.
macro_rules! counted {
    ($($name:ident($path:ident $(, $to:ident)?) -> $answer:ty;)*) => {
        $(fn $name(&self, $path: &Path $(, $to: &Path)?) -> io::Result<$answer> {
            self.call(stringify!($name), $path)?;
            self.inner.$name($path $(, $to)?)
        })*
    };
}

impl Storage for Faulty {
    counted! {
        stat(path) -> Option<Stat>;
        list(dir) -> Vec<String>;
        create_dir(path) -> ();
        rename(from, to) -> ();
        remove_file(path) -> ();
        remove_dir_all(path) -> ();
        sync_dir(dir) -> ();
        sealed(path) -> Bytes;
    }
    fn sync_file_system(&self) -> io::Result<()> {
        self.call("sync_file_system", Path::new(""))?;
        self.inner.sync_file_system()
    }
    fn open(&self, path: &Path, how: OpenMode) -> io::Result<Box<dyn File>> {
        self.call("open", path)?;
        let inner = self.inner.open(path, how)?;
        Ok(Box::new(FaultyFile {
            faulty: self.clone(),
            path: path.to_owned(),
            inner,
        }))
    }
    fn lock(&self, path: &Path, deadline: Duration) -> Result<Box<dyn HeldLock>, LockError> {
        self.call("lock", path).map_err(LockError::Io)?;
        Ok(Box::new(FaultyLock {
            faulty: self.clone(),
            path: path.to_owned(),
            inner: self.inner.lock(path, deadline)?,
        }))
    }
    fn lock_dir(&self, dir: &Path, deadline: Duration) -> Result<Box<dyn HeldLock>, LockError> {
        self.call("lock_dir", dir).map_err(LockError::Io)?;
        self.inner.lock_dir(dir, deadline)
    }
    fn watch(&self, paths: &[&Path]) -> io::Result<Box<dyn Watcher>> {
        self.call("watch", paths.first().copied().unwrap_or(Path::new("")))?;
        self.inner.watch(paths)
    }
}

/// A held lock, through which the content of its file is read and written.
#[derive(Debug)]
struct FaultyLock {
    faulty: Faulty,
    path: PathBuf,
    inner: Box<dyn HeldLock>,
}

impl HeldLock for FaultyLock {
    fn identity(&self) -> (u64, u64) {
        self.inner.identity()
    }
    fn read(&self, buf: &mut [u8]) -> io::Result<usize> {
        let len = match self.faulty.call("read_at", &self.path)? {
            Some(Fault::ShortRead) => buf.len().div_ceil(2),
            _ => buf.len(),
        };
        self.inner.read(&mut buf[..len])
    }
    fn write(&self, bytes: &[u8], durable: bool) -> io::Result<()> {
        if let Some(Fault::ShortWrite) = self.faulty.call("write_at", &self.path)? {
            self.inner.write(&bytes[..bytes.len() / 2], false)?;
            return Err(Errno::NOSPC.into());
        }
        self.inner.write(bytes, false)?;
        if durable {
            self.faulty.call("sync_data", &self.path)?;
            self.inner.write(bytes, true)?;
        }
        Ok(())
    }
}

struct FaultyFile {
    faulty: Faulty,
    path: PathBuf,
    inner: Box<dyn File>,
}

impl FaultyFile {
    fn call(&self, name: &'static str) -> io::Result<Option<Fault>> {
        self.faulty.call(name, &self.path)
    }
}

impl File for FaultyFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let len = match self.call("read_at")? {
            Some(Fault::ShortRead) => buf.len().div_ceil(2),
            _ => buf.len(),
        };
        self.inner.read_at(&mut buf[..len], offset)
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        match self.call("write_at")? {
            Some(Fault::ShortWrite) => {
                self.inner.write_all_at(&buf[..buf.len() / 2], offset)?;
                Err(Errno::NOSPC.into())
            }
            Some(Fault::PartialWrite) => self.inner.write_at(&buf[..buf.len().div_ceil(2)], offset),
            _ => self.inner.write_at(buf, offset),
        }
    }
    fn sync_data(&self) -> io::Result<()> {
        self.call("sync_data")?;
        self.inner.sync_data()
    }
    fn sync_all(&self) -> io::Result<()> {
        self.call("sync_all")?;
        self.inner.sync_all()
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.call("set_len")?;
        self.inner.set_len(len)
    }
    fn stat(&self) -> io::Result<Stat> {
        self.call("file_stat")?;
        self.inner.stat()
    }
}

#[cfg(test)]
mod tests;
