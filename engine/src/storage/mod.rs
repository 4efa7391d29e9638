//! Access to the file system: every file, map and lock goes through [`Storage`].
//!
//! [`Files`] is a directory tree. [`Memory`] is for tests: it knows which bytes are durable, and can crash. Paths are
//! relative to the storage's root, with `/`; no component is `..` or a symbolic link.

use std::io;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

#[cfg(test)]
mod agreement_test;
pub(crate) mod deferred;
pub(crate) mod faulty;
mod file_lock;
mod file_system;
pub(crate) mod files;
mod inotify_watcher;
#[cfg(test)]
mod locks_test;
mod map;
mod memory;
mod named;
mod relative;
mod root_dir;
#[cfg(test)]
mod test_support;

pub(crate) use deferred::Deferred;
#[cfg(test)]
pub(crate) use faulty::{Fault, Faulty};
pub use file_system::{FileSystemKind, Space};
pub use files::{Access, Files};
pub use memory::{Crashes, Memory};
pub(crate) use named::{NamedFile, if_long_enough, if_there};

/// Mode of opening a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// Opens an existing file to read.
    Read,
    /// Opens an existing file to read and write.
    Write,
    /// Creates a file to read and write; fails with `AlreadyExists` if the file exists.
    CreateNew,
    /// Opens a file to read and write, and creates it if it is missing. An existing file keeps its content.
    Create,
}

/// Metadata of a file or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// Length in bytes.
    pub len: u64,
    /// True for a directory.
    pub is_dir: bool,
    /// Device and inode: equal for two handles on one file.
    pub identity: (u64, u64),
    /// Time of the last change of the content (`mtime`). Any process that may write the file may also set this time.
    pub modified: FileTime,
    /// Time of the last change of content or metadata (`ctime`). Only the system sets this time.
    pub changed: FileTime,
}

/// The identity and length of a file: equal for a path and an open file if the file was not replaced and has not grown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileId {
    /// Length in bytes.
    pub len: u64,
    /// Device and inode.
    pub identity: (u64, u64),
}

impl From<Stat> for FileId {
    fn from(stat: Stat) -> FileId {
        FileId {
            len: stat.len,
            identity: stat.identity,
        }
    }
}

/// A time of a file, by the file system's clock, in nanoseconds since 1970. In [`Memory`] it is the number of a change.
pub type FileTime = i64;

/// An open file. Reads and writes name their offset; there is no cursor.
pub trait File: Send + Sync {
    /// Reads up to `buf.len()` bytes at `offset`; 0 at the end of the file.
    ///
    /// # Errors
    /// Errors of the system; `Interrupted` is retried inside.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes some of `buf` at `offset` (one system call).
    ///
    /// # Errors
    /// Errors of the system; `Interrupted` is retried inside.
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize>;
    /// Makes the content durable (`fdatasync`).
    ///
    /// # Errors
    /// Errors of the system. After an error, never call this method again on the same handle.
    fn sync_data(&self) -> io::Result<()>;
    /// Makes content and metadata durable (`fsync`).
    fn sync_all(&self) -> io::Result<()>;
    /// Cuts or extends the file.
    fn set_len(&self, len: u64) -> io::Result<()>;
    /// Returns length and identity.
    fn stat(&self) -> io::Result<Stat>;

    /// Reads exactly `buf.len()` bytes.
    ///
    /// # Errors
    /// `UnexpectedEof` if the file ends first, and the errors of [`File::read_at`].
    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let mut done = 0;
        while done < buf.len() {
            match self.read_at(&mut buf[done..], offset + done as u64)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                n => done += n,
            }
        }
        Ok(())
    }
    /// Writes all of `buf`.
    ///
    /// # Errors
    /// `WriteZero` if no more bytes can be written, and the errors of [`File::write_at`].
    fn write_all_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        let mut done = 0;
        while done < buf.len() {
            match self.write_at(&buf[done..], offset + done as u64)? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                n => done += n,
            }
        }
        Ok(())
    }
}

/// Expected order of reads of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// Random access: reading ahead is useless.
    Scattered,
    /// From start to end.
    InOrder,
}

/// Bytes in memory or in a map.
trait Content: Send + Sync {
    fn bytes(&self) -> &[u8];
    fn expect(&self, _: Reads) {}
}

/// Bytes in memory.
struct InMemory<T>(T);

impl<T: AsRef<[u8]> + Send + Sync> Content for InMemory<T> {
    fn bytes(&self) -> &[u8] {
        self.0.as_ref()
    }
}

/// Bytes of a whole file that no longer changes: mapped, or in memory. Cheap to clone.
#[derive(Clone)]
pub struct Bytes(Arc<dyn Content>);

impl Bytes {
    /// Shares bytes in memory.
    pub fn new(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Bytes {
        Bytes(Arc::new(InMemory(bytes)))
    }
    /// Tells the system the expected order of reads, so that the system does not read too much of a file. Default: in order.
    pub(crate) fn expect(&self, reads: Reads) {
        self.0.expect(reads);
    }
}
impl Deref for Bytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.0.bytes()
    }
}
impl std::fmt::Debug for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Bytes({})", self.len())
    }
}

/// A held lock. Dropping the value releases the lock; the file stays.
pub trait HeldLock: Send + Sync + std::fmt::Debug {
    /// Returns the identity of the locked file, to compare it with the identity of the file at its path.
    fn identity(&self) -> (u64, u64);
    /// Reads the beginning of the locked file; returns the number of bytes read.
    ///
    /// # Errors
    /// `Unsupported` for a directory; errors of the system.
    fn read(&self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }
    /// Overwrites the beginning of the locked file, and syncs it if `durable`.
    ///
    /// # Errors
    /// The errors of [`HeldLock::read`].
    fn write(&self, _: &[u8], _durable: bool) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Overwrites the beginning of a file, and syncs it if `durable`.
fn overwrite(file: &dyn File, bytes: &[u8], durable: bool) -> io::Result<()> {
    file.write_all_at(bytes, 0)?;
    if durable { file.sync_data() } else { Ok(()) }
}

/// Reason for which a lock was not taken.
#[derive(Debug)]
pub enum LockError {
    /// Another process holds the lock; the text names the holder, for people.
    Busy(String),
    /// The system failed.
    Io(io::Error),
}

/// Waits until one of its paths may have changed.
pub trait Watcher: Send + std::fmt::Debug {
    /// Returns when one of the paths may have been written, replaced, renamed or removed after the last call (or after the
    /// watcher was created), or after `timeout`. Can also return earlier, without a change.
    fn wait(&mut self, timeout: Duration) -> io::Result<()>;
}

/// A tree of files.
pub trait Storage: Send + Sync + std::fmt::Debug {
    /// Opens a file.
    ///
    /// # Errors
    /// Errors of the system; a symbolic link on the way, or anything but a regular file, is refused.
    fn open(&self, path: &Path, how: OpenMode) -> io::Result<Box<dyn File>>;
    /// Returns the metadata of `path`, `None` if it is missing.
    fn stat(&self, path: &Path) -> io::Result<Option<Stat>>;
    /// Returns the names in a directory, sorted.
    fn list(&self, dir: &Path) -> io::Result<Vec<String>>;
    /// Creates a directory (0700) in an existing directory; succeeds if the new directory exists already.
    ///
    /// # Errors
    /// `NotFound` if its parent is missing: see [`Storage::create_dir_below`] and [`Storage::create_dir_all`].
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// Renames; replaces a file (or an empty directory) at `to`.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    /// Removes a directory with its content; follows no links.
    fn remove_dir_all(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in a directory durable.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;
    /// Makes all writes so far durable, in every file of the file system (`syncfs`). The call is slow, because the system also
    /// writes the files of other programs.
    fn sync_file_system(&self) -> io::Result<()>;
    /// Takes the exclusive lock of a file. Creates the file if it is missing. Waits at most `deadline`; zero means one attempt.
    ///
    /// # Errors
    /// `Busy` with the holder, or the system's error.
    fn lock(&self, path: &Path, deadline: Duration) -> Result<Box<dyn HeldLock>, LockError>;
    /// Takes the exclusive lock of an existing directory. Waits like [`Storage::lock`].
    fn lock_dir(&self, dir: &Path, deadline: Duration) -> Result<Box<dyn HeldLock>, LockError>;
    /// Returns the bytes of a sealed file (a full segment, a run): mapped if possible.
    fn sealed(&self, path: &Path) -> io::Result<Bytes>;
    /// Returns a watcher for changes of these paths by any process.
    ///
    /// # Errors
    /// `Unsupported` if the system has no notifications; then check the paths at intervals. Other errors of the system.
    fn watch(&self, paths: &[&Path]) -> io::Result<Box<dyn Watcher>>;

    /// Creates a directory and the missing directories between it and `base`, never `base` itself. Every command except the four
    /// that create teams uses this method, so that a moved or removed team's directory does not reappear.
    ///
    /// # Errors
    /// `NotFound` if `base` is missing or is no ancestor of `path`.
    fn create_dir_below(&self, base: &Path, path: &Path) -> io::Result<()> {
        if path == base {
            let there = self.look(base)?;
            return there
                .map(drop)
                .ok_or_else(|| io::ErrorKind::NotFound.into());
        }
        match (self.create_dir(path), path.parent()) {
            (Err(error), Some(parent)) if error.kind() == io::ErrorKind::NotFound => {
                self.create_dir_below(base, parent)?;
                self.create_dir(path)
            }
            (created, _) => created,
        }
    }
    /// Creates a directory and its missing parents.
    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.create_dir_below(Path::new(""), path)
    }
    /// Returns the identity of the file at `path` in as few calls as possible, to compare the identity with an open file's.
    /// Symbolic links are not refused.
    fn look(&self, path: &Path) -> io::Result<Option<FileId>> {
        Ok(self.stat(path)?.map(FileId::from))
    }
    /// Reads a whole file; fails with `FileTooLarge` above `max` bytes.
    fn read(&self, path: &Path, max: u64) -> io::Result<Vec<u8>> {
        let file = self.open(path, OpenMode::Read)?;
        let len = file.stat()?.len;
        if len > max {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut bytes = vec![0; len as usize];
        file.read_exact_at(&mut bytes, 0)?;
        Ok(bytes)
    }
    /// Replaces a file whole: writes the new content to `path` + `.tmp`, and renames that file. If `durable`, syncs the file
    /// before the rename and the directory after it. Removes the temporary file if the disk is full.
    fn replace(&self, path: &Path, bytes: &[u8], durable: bool) -> io::Result<()> {
        let mut aside = path.as_os_str().to_owned();
        aside.push(".tmp");
        let aside = Path::new(&aside);
        let file = self.open(aside, OpenMode::Create)?;
        let written = file.set_len(0).and_then(|()| file.write_all_at(bytes, 0));
        if written.is_err() {
            // A partial file would take up space until a later write succeeds.
            let _ = self.remove_file(aside);
        }
        written?;
        if durable {
            file.sync_all()?;
        }
        self.rename(aside, path)?;
        match path.parent() {
            Some(dir) if durable => self.sync_dir(dir),
            _ => Ok(()),
        }
    }
}
