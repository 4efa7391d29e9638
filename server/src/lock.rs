//! Lock of a data root, which allows one daemon per root. It is a lock of the operating system, so it ends with the process. A
//! note in the locked file describes the daemon.

use crate::failure::{Result, StartError};
use crate::running::Running;
use rustix::fs::{Mode, OFlags};
use std::fs::{File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Name of the daemon's directory in the data root.
pub const DIR: &str = "teamd";
const LOCK_FILE: &str = "teamd.lock";
/// Maximum size of the note in bytes.
const NOTE_BYTES_MAX: u64 = 64 * 1024;

/// Lock of a data root. It is released on drop.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
}

impl Lock {
    /// Takes the lock. Fails if another daemon holds it.
    pub fn take(root: &Path) -> Result<Lock> {
        let dir = own_dir(root)?;
        let path = dir.join(LOCK_FILE);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = open(&path, flags)?;
        match file.try_lock() {
            Ok(()) => {
                let lock = Lock { file };
                // Remove the note of a daemon that was killed.
                lock.clear();
                Ok(lock)
            }
            Err(TryLockError::WouldBlock) => {
                Err(StartError::AlreadyServed(note(file).map(Box::new)))
            }
            Err(TryLockError::Error(error)) => {
                Err(StartError::io(format!("lock {}", path.display()))(error))
            }
        }
    }

    /// Writes a note that describes this daemon.
    pub fn note(&self, running: &Running) -> Result<()> {
        let written = || {
            let mut file = &self.file;
            file.set_len(0)?;
            file.seek(SeekFrom::Start(0))?;
            file.write_all(&serde_json::to_vec(running)?)?;
            file.sync_data()
        };
        written().map_err(StartError::io("write who holds the lock"))
    }

    fn clear(&self) {
        // Ignore errors: other processes read the note only while a daemon holds the lock, so an old note does no
        // harm.
        let _ = self.file.set_len(0);
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        self.clear();
        // Unlock explicitly. Closing the file does not always unlock it, because a child process that another thread
        // starts shares the open file until its `exec`.
        let _ = self.file.unlock();
    }
}

/// Returns the daemon's directory in the data root. Creates it if it is missing.
///
/// # Errors
/// Other users can enter the directory; I/O errors.
pub fn own_dir(root: &Path) -> Result<PathBuf> {
    let dir = root.join(DIR);
    private_dir(&dir)?;
    ignore_all(&dir);
    Ok(dir)
}

/// Returns the daemon that serves a data root, if there is one.
///
/// # Errors
/// `AlreadyServed(None)` while the daemon is starting; I/O errors.
pub fn running(root: &Path) -> Result<Option<Running>> {
    let path = root.join(DIR).join(LOCK_FILE);
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = match open(&path, flags) {
        Ok(file) => file,
        Err(StartError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    // Use a shared lock, so that two readers do not mistake each other for a daemon.
    match file.try_lock_shared() {
        Ok(()) => Ok(None),
        Err(TryLockError::WouldBlock) => match note(file) {
            Some(running) => Ok(Some(running)),
            None => Err(StartError::AlreadyServed(None)),
        },
        Err(TryLockError::Error(error)) => {
            Err(StartError::io(format!("lock {}", path.display()))(error))
        }
    }
}

fn note(file: File) -> Option<Running> {
    let mut text = Vec::new();
    file.take(NOTE_BYTES_MAX).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

fn open(path: &Path, flags: OFlags) -> Result<File> {
    let opened = rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR);
    opened
        .map(File::from)
        .map_err(|error| StartError::io(format!("open {}", path.display()))(error.into()))
}

/// Writes an ignore file for git, in case the directory is inside a repository. An existing file stays, and errors are ignored.
fn ignore_all(dir: &Path) {
    let mut options = std::fs::OpenOptions::new();
    let made = options
        .write(true)
        .create_new(true)
        .open(dir.join(".gitignore"));
    let _ = made.and_then(|mut file| file.write_all(b"*\n"));
}

/// Creates a directory if it is missing. Checks that the current user owns the directory and is the only user who can enter it.
pub(crate) fn private_dir(dir: &Path) -> Result<()> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};
    let mut builder = std::fs::DirBuilder::new();
    match builder.mode(0o700).create(dir) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            return Err(StartError::io(format!("create {}", dir.display()))(error));
        }
        _ => {}
    }
    let doing = format!("look at {}", dir.display());
    let found = std::fs::symlink_metadata(dir).map_err(StartError::io(doing))?;
    let ours = found.uid() == rustix::process::geteuid().as_raw();
    match found.is_dir() && ours && found.mode() & 0o077 == 0 {
        true => Ok(()),
        false => Err(StartError::SocketDirectory(dir.to_owned())),
    }
}
