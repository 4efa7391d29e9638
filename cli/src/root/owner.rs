//! Checks the owner of a data root that was found by search: it must belong to the caller or to root, and others must not
//! be able to write it.

use crate::env::ProcessEnv;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use teamlog_team::engine::internals::storage::SHARED_DIR;

const WRITABLE_BY_GROUP: u32 = 0o020;
const WRITABLE_BY_OTHERS: u32 = 0o002;

/// The user that runs a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct User {
    uid: u32,
    /// If this process runs as root: the user who called `sudo`.
    sudo_uid: Option<u32>,
}

/// A directory that must not be used as data root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotOwned {
    pub path: PathBuf,
    /// The reason, as the rest of a sentence about the path.
    pub why: String,
}

impl User {
    pub fn new(uid: u32, sudo_uid: Option<u32>) -> User {
        let sudo_uid = sudo_uid.filter(|_| uid == 0);
        User { uid, sudo_uid }
    }

    pub fn of_process(env: &ProcessEnv) -> User {
        let sudo_uid = env.var("SUDO_UID");
        let sudo_uid = sudo_uid.and_then(|uid| uid.to_str()?.parse().ok());
        User::new(rustix::process::geteuid().as_raw(), sudo_uid)
    }

    pub fn is_root(self) -> bool {
        self.uid == 0
    }

    pub fn sudo_uid(self) -> Option<u32> {
        self.sudo_uid
    }

    /// Returns true if files of user `uid` count as the caller's own files.
    pub fn owns(self, uid: u32) -> bool {
        uid == self.uid || self.sudo_uid == Some(uid)
    }

    /// Returns true if the caller may trust files of user `uid`.
    pub fn trusts(self, uid: u32) -> bool {
        uid == 0 || self.owns(uid)
    }
}

/// Refuses a directory that others may write or that belongs to another user.
pub fn check(path: &Path, found: &Metadata, user: User) -> Result<(), NotOwned> {
    let refused = |why: String| {
        let path = path.to_owned();
        Err(NotOwned { path, why })
    };
    if !user.trusts(found.uid()) {
        return refused(format!("belongs to user {}", found.uid()));
    }
    if found.mode() & WRITABLE_BY_OTHERS != 0 {
        return refused("can be written by everybody".to_owned());
    }
    // The group's permission on the caller's own directory is accepted, because the next recording command removes
    // this permission.
    match is_loose(found) && !user.owns(found.uid()) {
        true => refused(format!("can be written by group {}", found.gid())),
        false => Ok(()),
    }
}

/// Returns true if the directory is not shared but its group may write it.
pub fn is_loose(found: &Metadata) -> bool {
    found.mode() & WRITABLE_BY_GROUP != 0 && !is_shared(found)
}

/// Returns true if the directory is shared with a group.
pub fn is_shared(found: &Metadata) -> bool {
    found.mode() & 0o7777 == SHARED_DIR
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{Permissions, set_permissions, symlink_metadata};
    use std::os::unix::fs::{PermissionsExt, chown};

    #[test]
    fn only_the_callers_own_and_roots_are_used() {
        let me = User::new(rustix::process::geteuid().as_raw(), None);
        let other = User::new(4_000_000, None);
        let dir = tempfile::tempdir().unwrap();
        let refused = |mode: u32, user: User| {
            set_permissions(dir.path(), Permissions::from_mode(mode)).unwrap();
            let found = symlink_metadata(dir.path()).unwrap();
            check(dir.path(), &found, user).err().map(|error| error.why)
        };
        for (mode, is_used) in [(0o700, true), (0o755, true), (0o775, true), (0o2770, true)] {
            assert_eq!(refused(mode, me).is_none(), is_used, "{mode:o}");
        }
        for mode in [0o777, 0o1777, 0o702] {
            assert!(refused(mode, me).unwrap().contains("by everybody"));
        }
        if !me.is_root() {
            assert!(refused(0o700, other).unwrap().contains("belongs to user"));
            return;
        }
        // The directory belongs to root.
        assert_eq!(refused(0o755, other), None);
        assert_eq!(refused(0o2770, other), None);
        assert!(refused(0o775, other).unwrap().contains("by group"));
        chown(dir.path(), Some(12345), None).unwrap();
        assert!(refused(0o700, me).unwrap().contains("user 12345"));
        assert_eq!(refused(0o700, User::new(0, Some(12345))), None);
        assert!(refused(0o700, User::new(0, Some(1))).is_some());
        // `SUDO_UID` is used only if the process runs as root.
        assert!(refused(0o700, User::new(1, Some(12345))).is_some());
    }
}
