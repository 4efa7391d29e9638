//! One daemon a root. The lock is that of the system, so that it goes with the process however that ends; beside it
//! stands who holds it.

use crate::failure::{Result, StartError};
use crate::running::Running;
use rustix::fs::{Mode, OFlags};
use std::fs::{File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The directory beneath the root that is the daemon's own.
pub const DIR: &str = "teamd";
const LOCK_FILE: &str = "teamd.lock";
/// A note on one process is never longer.
const NOTE_BYTES_MAX: u64 = 64 * 1024;

/// The lock of a root. It goes with this value.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
}

impl Lock {
    /// Takes the lock, unless another daemon has it.
    pub fn take(root: &Path) -> Result<Lock> {
        let dir = own_dir(root)?;
        let path = dir.join(LOCK_FILE);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = open(&path, flags)?;
        match file.try_lock() {
            Ok(()) => {
                let lock = Lock { file };
                // What a dead one left says nothing about this one.
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

    /// Writes beside the lock who holds it.
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
        // Nobody reads it while nobody holds the lock, so that it may stay.
        let _ = self.file.set_len(0);
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        self.clear();
        // Rather than just closed: a child of another thread shares the open file until it runs its program.
        let _ = self.file.unlock();
    }
}

/// The directory beneath the root that is the daemon's own; it is made where it is missing.
///
/// # Errors
/// Others may enter it; I/O.
pub fn own_dir(root: &Path) -> Result<PathBuf> {
    let dir = root.join(DIR);
    private_dir(&dir)?;
    ignore_all(&dir);
    Ok(dir)
}

/// The daemon that serves a root, if there is one.
///
/// # Errors
/// `AlreadyServed(None)` where it is just starting; I/O.
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
    // Shared, so that two that ask do not take each other for a daemon.
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

/// Tells git to leave the directory alone, where it lies in a repository. One that is there already stays, and a failure
/// keeps no daemon from its work.
fn ignore_all(dir: &Path) {
    let mut options = std::fs::OpenOptions::new();
    let made = options
        .write(true)
        .create_new(true)
        .open(dir.join(".gitignore"));
    let _ = made.and_then(|mut file| file.write_all(b"*\n"));
}

/// Makes sure that a directory is there, and that only its owner, who is us, may enter it.
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
