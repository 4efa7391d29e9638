//! A data root that a Unix group shares. The group's members read and write the same logs, each as its own user.
//!
//! The mode of the directory of all teams marks the root as shared. The engine gives new files the same access.

use crate::handle::root::{RUNTIME_FILE, TEAMS_DIR};
use crate::operation::prelude::*;
use teamlog_engine::internals::storage::{SHARED_DIR, SHARED_FILE};
use teamlog_engine::storage::{Access, Files};

/// Maximum depth of directories to visit. Teams need a depth of four.
const DEPTH_MAX: usize = 16;

/// Returns true if a file belongs to one user even in a shared root. The only such file is `runtime.json`, which holds the token of a
/// user's daemon.
pub(crate) fn is_personal(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == RUNTIME_FILE)
}

/// Returns the mode for a file or directory in a shared root.
pub(crate) fn shared_mode(access: &Access) -> u32 {
    if access.is_dir {
        SHARED_DIR
    } else {
        SHARED_FILE
    }
}

impl Root {
    /// Shares the teams with a group. Existing and new directories get mode 2770, files 0660. A repeated call corrects modes that
    /// differ.
    ///
    /// # Errors
    /// `invalid_input` for a root in memory; I/O, for example for a file of another user.
    pub fn share(&self, gid: u32) -> Result<()> {
        let Some(files) = self.files() else {
            let message = "a data root in memory cannot be shared with a group";
            return Err(Refusal::new(Code::InvalidInput, message).into());
        };
        self.make_teams()?;
        share(files, Path::new(TEAMS_DIR), gid, DEPTH_MAX)
    }
}

fn share(files: &Files, path: &Path, gid: u32, depth: usize) -> Result<()> {
    let found = files.access(path).map_err(Error::io("look at", path))?;
    // Skips a file that was removed meanwhile.
    let Some(access) = found.filter(|access| access.is_dir || access.is_file) else {
        return Ok(());
    };
    if is_personal(path) {
        return Ok(());
    }
    let mode = shared_mode(&access);
    if (access.gid, access.mode) != (gid, mode) {
        let set = files.set_access(path, gid, mode);
        set.map_err(Error::io("share", path))?;
    }
    if !access.is_dir || depth == 0 {
        return Ok(());
    }
    let names = files.list(path).map_err(Error::io("list", path))?;
    names
        .iter()
        .try_for_each(|name| share(files, &path.join(name), gid, depth - 1))
}
