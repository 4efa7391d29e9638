//! A directory tree as storage.
//!
//! All paths are opened relative to the open root, never by an absolute path, and never through a symbolic link. Only regular
//! files with one name are opened, because a second name (hard link) could be outside the root. New files have mode 0600 and new
//! directories 0700, unless the team's directory sets other modes ([`ownership`]). Every handle is closed on exec. Writes name
//! their offset (never `O_APPEND`).

mod ownership;

pub use ownership::{Access, SHARED_DIR, SHARED_FILE};

use super::file_lock;
use super::file_system::{self, FileSystemKind, Space};
use super::inotify_watcher::InotifyWatcher;
use super::root_dir::{self, RootDir};
use super::{
    Bytes, File, FileId, FileTime, HeldLock, LockError, OpenMode, Stat, Storage, Watcher, map,
    relative,
};
use ownership::{NewAccess, Ownership};
use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, StatxFlags, fstat, fsync, makedev, mkdirat, openat,
    renameat, statx, syncfs, unlinkat,
};
use rustix::io::{Errno, pread, pwrite, retry_on_intr};
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Depth to which [`Storage::remove_dir_all`] removes. The directory of a team needs four levels.
const REMOVED_DEPTH: usize = 64;

/// A directory tree.
#[derive(Debug)]
pub struct Files {
    root_dir: Arc<RootDir>,
    ownership: Ownership,
}

impl Files {
    /// Opens an existing directory as a root. The path to the root may contain symbolic links; paths below the root must not.
    pub fn open(root: &Path) -> io::Result<Files> {
        Ok(Files {
            root_dir: Arc::new(RootDir::new(root)?),
            ownership: Ownership::default(),
        })
    }

    /// Creates a directory and its missing parents (0700), durably, and opens it as a root.
    pub fn create(root: &Path) -> io::Result<Files> {
        make_durably(root)?;
        Files::open(root)
    }

    /// Returns the kind of the root's file system.
    pub fn file_system(&self) -> io::Result<FileSystemKind> {
        file_system::kind(self.root_dir.root())
    }

    /// Returns the free and total space of the root's file system.
    pub fn space(&self) -> io::Result<Space> {
        file_system::space(self.root_dir.root())
    }

    /// Returns owner, group and mode of a path, which may be a link; `None` if it is missing.
    pub fn access(&self, path: &Path) -> io::Result<Option<Access>> {
        ownership::access(&self.root_dir, path)
    }

    /// Sets group and mode of a regular file or a directory.
    pub fn set_access(&self, path: &Path, gid: u32, mode: u32) -> io::Result<()> {
        self.ownership.forget();
        ownership::set_access(&self.root_dir, path, gid, mode)
    }

    /// Returns owner and mode for a new file at `path`.
    fn new_access(&self, path: &Path) -> io::Result<NewAccess> {
        self.ownership.at(&self.root_dir, path)
    }

    /// Opens a regular file with one name, by two system calls.
    fn regular(&self, path: &Path, how: OpenMode) -> io::Result<(fs::File, Stat)> {
        let may_create = matches!(how, OpenMode::Create | OpenMode::CreateNew);
        let how = match how {
            OpenMode::Read => OFlags::RDONLY,
            OpenMode::Write => OFlags::RDWR,
            OpenMode::CreateNew => OFlags::RDWR | OFlags::CREATE | OFlags::EXCL,
            OpenMode::Create => OFlags::RDWR | OFlags::CREATE,
        };
        // Opened without blocking, because a FIFO or a device in the file's place would block the open. The flag has no effect on
        // files.
        let fd = self
            .root_dir
            .open(path, how | OFlags::NONBLOCK | OFlags::NOCTTY)?;
        let stat = fstat(&fd)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {}
            FileType::Directory => return Err(io::ErrorKind::IsADirectory.into()),
            _ => return Err(relative::refused(path, "must be a regular file")),
        }
        // A file with zero names is allowed: it was replaced between the two calls.
        if stat.st_nlink > 1 {
            return Err(relative::refused(
                path,
                "must have no second name (hard link): find it with `find -samefile`, and remove the one that does not belong",
            ));
        }
        if may_create {
            self.new_access(path)?.set_if_new(&fd, &stat)?;
        }
        Ok((fs::File::from(fd), known(&stat)))
    }
}

/// Creates a file; fails if it exists.
fn create_new(dir: &OwnedFd, name: &str) -> Result<fs::File, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let opened = retry_on_intr(|| openat(dir, name, flags, Mode::RUSR | Mode::WUSR));
    opened.map(fs::File::from)
}

/// Creates one directory. An existing one stays unchanged.
fn make_dir(
    dir: &OwnedFd,
    name: &str,
    new: impl FnOnce() -> io::Result<NewAccess>,
) -> io::Result<()> {
    match mkdirat(dir, name, Mode::RWXU) {
        Err(Errno::EXIST) => return Ok(()),
        made => made?,
    }
    let new = new()?;
    if new.is_plain() {
        return Ok(());
    }
    new.set_new_dir(root_dir::child(dir, name)?)
}

fn known(stat: &rustix::fs::Stat) -> Stat {
    Stat {
        len: u64::try_from(stat.st_size).unwrap_or(0),
        is_dir: FileType::from_raw_mode(stat.st_mode) == FileType::Directory,
        identity: (stat.st_dev, stat.st_ino),
        modified: file_time(stat.st_mtime, stat.st_mtime_nsec),
        changed: file_time(stat.st_ctime, stat.st_ctime_nsec),
    }
}

fn file_time(seconds: i64, nanoseconds: u64) -> FileTime {
    seconds
        .saturating_mul(1_000_000_000)
        .saturating_add_unsigned(nanoseconds)
}

impl File for fs::File {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        Ok(retry_on_intr(|| pread(self, &mut *buf, offset))?)
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        Ok(retry_on_intr(|| pwrite(self, buf, offset))?)
    }
    fn sync_data(&self) -> io::Result<()> {
        fs::File::sync_data(self)
    }
    fn sync_all(&self) -> io::Result<()> {
        fs::File::sync_all(self)
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        fs::File::set_len(self, len)
    }
    fn stat(&self) -> io::Result<Stat> {
        Ok(known(&fstat(self)?))
    }
}

impl Storage for Files {
    fn open(&self, path: &Path, how: OpenMode) -> io::Result<Box<dyn File>> {
        Ok(Box::new(self.regular(path, how)?.0))
    }

    fn stat(&self, path: &Path) -> io::Result<Option<Stat>> {
        let fd = match self.root_dir.open(path, OFlags::PATH) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            answer => answer?,
        };
        let stat = fstat(&fd)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink => Err(Errno::LOOP.into()),
            _ => Ok(Some(known(&stat))),
        }
    }

    /// Makes one system call instead of three. Follows a link in place of a directory, but not in place of the file. Does not ask
    /// for times, because after such a request the next write changes the file's time, and each sync has to write the new time.
    fn look(&self, path: &Path) -> io::Result<Option<FileId>> {
        relative::names(path)?;
        let root = self.root_dir.root();
        let asked = StatxFlags::TYPE | StatxFlags::INO | StatxFlags::SIZE;
        match retry_on_intr(|| statx(&root, path, AtFlags::SYMLINK_NOFOLLOW, asked)) {
            Err(Errno::NOENT) => Ok(None),
            // A sandbox may allow only the older system call.
            Err(Errno::NOSYS | Errno::PERM) => Ok(self.stat(path)?.map(FileId::from)),
            found => {
                let found = found?;
                let device = makedev(found.stx_dev_major, found.stx_dev_minor);
                Ok(Some(FileId {
                    len: found.stx_size,
                    identity: (device, found.stx_ino),
                }))
            }
        }
    }

    /// Names that are not UTF-8 are shown with U+FFFD; teamlog never creates such names.
    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::new(self.root_dir.directory(dir)?)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name != "." && name != ".." {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        if !relative::names(path)?.is_empty() {
            let (dir, name) = self.root_dir.parent(path)?;
            make_dir(&dir, name, || self.new_access(path))?;
        }
        // The existing entry may be a file or a link.
        match self.stat(path)? {
            Some(stat) if stat.is_dir => Ok(()),
            _ => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (from_dir, from_name) = self.root_dir.parent(from)?;
        if from.parent() == to.parent()
            && let Some(to_name) = to.file_name()
        {
            return Ok(renameat(&from_dir, from_name, &from_dir, to_name)?);
        }
        let (to_dir, to_name) = self.root_dir.parent(to)?;
        Ok(renameat(from_dir, from_name, to_dir, to_name)?)
    }

    /// Takes the steps of the default method, with fewer calls. The temporary file is a new file and not a truncated one, because
    /// ext4 writes a truncated and refilled file to the disk when the file is closed.
    fn replace(&self, path: &Path, bytes: &[u8], durable: bool) -> io::Result<()> {
        let (dir, name) = self.root_dir.parent(path)?;
        let aside = format!("{name}.tmp");
        let file = match create_new(&dir, &aside) {
            // A killed process left the temporary file.
            Err(Errno::EXIST) => {
                unlinkat(&dir, &aside, AtFlags::empty())?;
                create_new(&dir, &aside)
            }
            created => created,
        }?;
        let new = self.new_access(path)?;
        let written = new
            .set_new_file(&file)
            .and_then(|()| file.write_all_at(bytes, 0));
        if let Err(error) = written {
            // A partial file would take up space until a later write succeeds.
            let _ = unlinkat(&dir, &aside, AtFlags::empty());
            return Err(error);
        }
        if durable {
            file.sync_all()?;
        }
        renameat(&dir, &aside, &dir, name)?;
        match path.parent() {
            Some(dir) if durable => self.sync_dir(dir),
            _ => Ok(()),
        }
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        let (dir, name) = self.root_dir.parent(path)?;
        Ok(unlinkat(dir, name, AtFlags::empty())?)
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        let (dir, name) = self.root_dir.parent(path)?;
        remove_below(root_dir::child(&dir, name)?, REMOVED_DEPTH)?;
        Ok(unlinkat(dir, name, AtFlags::REMOVEDIR)?)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        sync(self.root_dir.directory(dir)?)
    }

    fn sync_file_system(&self) -> io::Result<()> {
        let dir = self.root_dir.directory(Path::new(""))?;
        Ok(retry_on_intr(|| syncfs(&dir))?)
    }

    fn lock(&self, path: &Path, deadline: Duration) -> Result<Box<dyn HeldLock>, LockError> {
        let (file, stat) = self
            .regular(path, OpenMode::Create)
            .map_err(LockError::Io)?;
        // An error must end the call before anything is created.
        let new = self.new_access(path).map_err(LockError::Io)?;
        new.give(&file).map_err(LockError::Io)?;
        Ok(Box::new(file_lock::lock(file, stat.identity, deadline)?))
    }

    fn lock_dir(&self, dir: &Path, deadline: Duration) -> Result<Box<dyn HeldLock>, LockError> {
        let dir = self.root_dir.directory(dir).map_err(LockError::Io)?;
        let dir = fs::File::from(dir);
        let stat = File::stat(&dir).map_err(LockError::Io)?;
        Ok(Box::new(file_lock::lock(dir, stat.identity, deadline)?))
    }

    fn sealed(&self, path: &Path) -> io::Result<Bytes> {
        let (file, stat) = self.regular(path, OpenMode::Read)?;
        map::map(&file, stat.len)
    }

    fn watch(&self, paths: &[&Path]) -> io::Result<Box<dyn Watcher>> {
        // The system does not report changes that other machines make on a network file system.
        if let FileSystemKind::Network(_) = self.file_system()? {
            return Err(io::ErrorKind::Unsupported.into());
        }
        Ok(Box::new(InotifyWatcher::new(self.root_dir.clone(), paths)?))
    }

    /// Reads like the default method, but saves a call, because opening the file also returns its length.
    fn read(&self, path: &Path, max: u64) -> io::Result<Vec<u8>> {
        let (file, stat) = self.regular(path, OpenMode::Read)?;
        if stat.len > max {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut bytes = vec![0; stat.len as usize];
        file.read_exact_at(&mut bytes, 0)?;
        Ok(bytes)
    }
}

fn sync(fd: impl AsFd) -> io::Result<()> {
    Ok(retry_on_intr(|| fsync(fd.as_fd()))?)
}

/// Empties a directory. Opens each directory from its parent and refuses links, so that a directory that is replaced meanwhile
/// cannot redirect the removal.
fn remove_below(dir: OwnedFd, depth: usize) -> io::Result<()> {
    if depth == 0 {
        return Err(io::Error::other(format!(
            "directories lie more than {REMOVED_DEPTH} deep"
        )));
    }
    for entry in Dir::read_from(&dir)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        match unlinkat(&dir, name, AtFlags::empty()) {
            Err(Errno::ISDIR) => {
                remove_below(root_dir::child(&dir, name)?, depth - 1)?;
                unlinkat(&dir, name, AtFlags::REMOVEDIR)?;
            }
            answer => answer?,
        }
    }
    Ok(())
}

/// Creates a directory and its missing parents; each new name is made durable in its directory.
fn make_durably(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let parent = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    make_durably(parent)?;
    match fs::DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
        answer => answer?,
    }
    sync(root_dir::anywhere(parent)?)
}

#[cfg(test)]
mod tests;
