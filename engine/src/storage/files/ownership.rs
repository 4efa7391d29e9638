//! Owner, group and mode of new files: 0600 and 0700 of the caller, unless the team's directory sets others.
//!
//! The team's directory is given by the first two names of a path (`teams/NAME`), or by the first name if the path has two. Root
//! gives new files in the team's directory to the owner of that directory. If the directory has the mode [`SHARED_DIR`], a group
//! shares it: files get [`SHARED_FILE`], directories [`SHARED_DIR`], with any umask.

use super::{RootDir, relative};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, StatxFlags, fchmod, fstat, statx};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::geteuid;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::fchown;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Mode of a directory that a group shares; new files belong to the directory's group.
pub const SHARED_DIR: u32 = 0o2770;
/// Mode of a file that a group shares.
pub const SHARED_FILE: u32 = 0o660;
/// Number of names of a path that name the team's directory.
const DECIDING_NAMES: usize = 2;

/// Owner, group and mode of a file or a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// User id of the owner.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
    /// The permission bits, set-group-id included.
    pub mode: u32,
    /// `true` for a directory.
    pub is_dir: bool,
    /// `true` for a regular file.
    pub is_file: bool,
}

impl Access {
    /// Returns `true` for a directory that a group shares.
    pub fn is_shared(&self) -> bool {
        self.is_dir && self.mode == SHARED_DIR
    }
}

/// Changes of owner and mode for new files and directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct NewAccess {
    /// Owner and group to which root gives new files and directories.
    give_to: Option<(u32, u32)>,
    /// `true` if a group shares the new files and directories.
    is_shared: bool,
}

impl NewAccess {
    fn new(decides: &Access, euid: u32) -> NewAccess {
        let gives = euid == 0 && decides.uid != 0;
        NewAccess {
            give_to: gives.then_some((decides.uid, decides.gid)),
            is_shared: decides.is_shared(),
        }
    }

    /// Sets owner and mode of a file that was just created.
    pub fn set_new_file(self, file: impl AsFd) -> io::Result<()> {
        self.set(file.as_fd(), SHARED_FILE)
    }

    /// Sets owner and mode of a directory that was just created.
    pub fn set_new_dir(self, dir: impl AsFd) -> io::Result<()> {
        self.set(dir.as_fd(), SHARED_DIR)
    }

    fn set(self, fd: impl AsFd, shared: u32) -> io::Result<()> {
        self.give(&fd)?;
        if self.is_shared {
            fchmod(fd, Mode::from_raw_mode(shared))?;
        }
        Ok(())
    }

    /// Gives a file to the owner of the team. Makes the call even if the file belongs to that owner already, because an error
    /// shows that root cannot give files away on this file system.
    pub fn give(self, fd: impl AsFd) -> io::Result<()> {
        let Some((uid, gid)) = self.give_to else {
            return Ok(());
        };
        fchown(fd, Some(uid), Some(gid)).map_err(|error| {
            let why = format!(
                "root cannot give what it creates to user {uid}, who owns the team ({error}); run the command as that user"
            );
            io::Error::new(io::ErrorKind::PermissionDenied, why)
        })
    }

    /// Sets owner and mode of a file that was opened with the option to create it, if this process created the file.
    pub fn set_if_new(self, fd: impl AsFd, found: &rustix::fs::Stat) -> io::Result<()> {
        if self.give_to.is_some_and(|(uid, _)| uid != found.st_uid) {
            self.give(&fd)?;
        }
        if !self.is_shared || found.st_mode & 0o7777 == SHARED_FILE {
            return Ok(());
        }
        // Only its owner may change a file, so a file of another member is left unchanged.
        if found.st_uid == geteuid().as_raw() {
            fchmod(fd, Mode::from_raw_mode(SHARED_FILE))?;
        }
        Ok(())
    }

    /// Returns `true` if new files and directories need no change of owner or mode.
    pub fn is_plain(self) -> bool {
        self == NewAccess::default()
    }
}

/// The last directory that was checked, and its result: a process mostly works in one team.
#[derive(Debug, Default)]
pub(super) struct Ownership(Mutex<Option<(PathBuf, NewAccess)>>);

impl Ownership {
    /// Returns owner and mode for a new file at `path`. Makes a system call only if the file's team is another team than in the last call.
    pub fn at(&self, root: &RootDir, path: &Path) -> io::Result<NewAccess> {
        let names = relative::names(path)?;
        let deciding = names.len().saturating_sub(1).min(DECIDING_NAMES);
        if deciding == 0 {
            return Ok(NewAccess::default());
        }
        let dir: PathBuf = names.into_iter().take(deciding).collect();
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = last.as_ref().filter(|(known, _)| *known == dir) {
            return Ok(*known);
        }
        // Creating a file in a missing directory fails later.
        let Some(found) = access(root, &dir)? else {
            return Ok(NewAccess::default());
        };
        let new = NewAccess::new(&found, geteuid().as_raw());
        *last = Some((dir, new));
        Ok(new)
    }

    /// Forgets the last result. Called after a directory got another owner or mode.
    pub fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Returns owner and mode of a path, which may be a link; `None` if it is missing.
pub(super) fn access(root: &RootDir, path: &Path) -> io::Result<Option<Access>> {
    relative::names(path)?;
    let asked = StatxFlags::TYPE | StatxFlags::MODE | StatxFlags::UID | StatxFlags::GID;
    let found = retry_on_intr(|| statx(root.root(), path, AtFlags::SYMLINK_NOFOLLOW, asked));
    match found {
        Ok(found) => Ok(Some(from_parts(
            found.stx_uid,
            found.stx_gid,
            found.stx_mode.into(),
        ))),
        Err(Errno::NOENT) => Ok(None),
        // A sandbox may allow only the older system call.
        Err(Errno::NOSYS | Errno::PERM) => match root.open(path, OFlags::PATH) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => {
                let found = fstat(opened?)?;
                Ok(Some(from_parts(found.st_uid, found.st_gid, found.st_mode)))
            }
        },
        Err(error) => Err(error.into()),
    }
}

fn from_parts(uid: u32, gid: u32, mode: u32) -> Access {
    Access {
        uid,
        gid,
        mode: mode & 0o7777,
        is_dir: FileType::from_raw_mode(mode) == FileType::Directory,
        is_file: FileType::from_raw_mode(mode) == FileType::RegularFile,
    }
}

/// Sets group and mode of a regular file or a directory.
pub(super) fn set_access(root: &RootDir, path: &Path, gid: u32, mode: u32) -> io::Result<()> {
    let fd = root.open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)?;
    let found = fstat(&fd)?;
    match FileType::from_raw_mode(found.st_mode) {
        FileType::Directory => {}
        FileType::RegularFile if found.st_nlink <= 1 => {}
        _ => return Err(relative::refused(path, "must be a regular file")),
    }
    if found.st_gid != gid {
        fchown(&fd, None, Some(gid))?;
    }
    // The mode is set after the group, because a change of owner or group clears set-group-id.
    Ok(fchmod(fd, Mode::from_raw_mode(mode))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::{Files, OpenMode, Storage};
    use std::fs::{create_dir_all, set_permissions};
    use std::os::unix::fs::{PermissionsExt, chown};
    use std::time::Duration;

    /// Creates a file, a file by replacement, a lock and two directories in the team `t/a`.
    fn create_all(files: &Files) -> [Access; 5] {
        files.open(Path::new("t/a/f"), OpenMode::CreateNew).unwrap();
        files.replace(Path::new("t/a/r"), b"x", false).unwrap();
        drop(files.lock(Path::new("t/a/lock"), Duration::ZERO).unwrap());
        for dir in ["t/a/d", "t/a/d/e"] {
            files.create_dir(Path::new(dir)).unwrap();
        }
        ["f", "r", "lock", "d", "d/e"].map(|name| {
            let path = Path::new("t/a").join(name);
            files.access(&path).unwrap().unwrap()
        })
    }

    fn team() -> (tempfile::TempDir, Files) {
        let dir = tempfile::tempdir().unwrap();
        create_dir_all(dir.path().join("t/a")).unwrap();
        set_permissions(dir.path().join("t/a"), PermissionsExt::from_mode(0o700)).unwrap();
        let files = Files::open(dir.path()).unwrap();
        (dir, files)
    }

    #[test]
    fn what_is_created_is_private() {
        let (_dir, files) = team();
        let modes = create_all(&files).map(|access| access.mode);
        assert_eq!(modes, [0o600, 0o600, 0o600, 0o700, 0o700]);
    }

    #[test]
    fn what_is_created_in_a_shared_team_is_shared() {
        let (_dir, files) = team();
        let gid = files.access(Path::new("t/a")).unwrap().unwrap().gid;
        files.set_access(Path::new("t/a"), gid, SHARED_DIR).unwrap();
        let modes = create_all(&files).map(|access| access.mode);
        assert_eq!(modes, [0o660, 0o660, 0o660, 0o2770, 0o2770]);
    }

    #[test]
    fn root_gives_what_it_creates_to_the_owner_of_the_team() {
        if !geteuid().is_root() {
            return;
        }
        let (dir, files) = team();
        chown(dir.path().join("t/a"), Some(12345), Some(54321)).unwrap();
        // The file belongs to root, as if an earlier program had created it.
        std::fs::write(dir.path().join("t/a/lock"), "").unwrap();
        for access in create_all(&files) {
            assert_eq!((access.uid, access.gid), (12345, 54321));
        }
        // Another team of the root has another owner.
        for dir in ["t/b", "t/b/d"] {
            files.create_dir(Path::new(dir)).unwrap();
        }
        assert_eq!(files.access(Path::new("t/b/d")).unwrap().unwrap().uid, 0);
    }
}
