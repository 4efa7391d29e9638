//! Checks the owner of the data root's directories.

use super::Context;
use crate::exit::{CommandError, Exit};
use crate::root::owner::{self, NotOwned, User};
use crate::root::{self, Origin, Unusable};
use std::fs::{DirBuilder, Permissions, set_permissions, symlink_metadata};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown};
use std::path::Path;
use teamlog_team::handle::root::TEAMS_DIR;
use teamlog_team::shell::quoted;

impl Context {
    pub(super) fn os_user(&self) -> User {
        User::of_process(&self.env)
    }

    /// Refuses a team whose directory belongs to another user or is writable by others, if the data root was found by search.
    /// Costs one `stat`.
    pub(super) fn check_owner(&self, team: &str) -> Result<(), CommandError> {
        if self.is_remote {
            return Ok(());
        }
        let root = self.data_root.as_ref().map_err(Clone::clone)?;
        if root.origin != Origin::Discovered {
            return Ok(());
        }
        let teams = root.path.join(TEAMS_DIR);
        let dir = teams.join(team);
        let Ok(found) = symlink_metadata(&dir) else {
            return Ok(());
        };
        let is_shared = || symlink_metadata(&teams).is_ok_and(|teams| owner::is_shared(&teams));
        let checked = owner::check(&dir, &found, self.os_user());
        match checked {
            Err(_) if is_shared() => Ok(()),
            checked => checked.map_err(|error| not_owned(&error, &root.path)),
        }
    }

    /// Removes the group's write permission from a data root that was found by search, if the caller owns this root
    /// and it is not shared.
    pub(super) fn tighten(&self, team: &str) {
        let Ok(root) = &self.data_root else { return };
        if root.origin != Origin::Discovered {
            return;
        }
        let teams = root.path.join(TEAMS_DIR);
        for dir in [teams.join(team), teams] {
            let found = symlink_metadata(&dir).ok().filter(|found| {
                found.is_dir() && owner::is_loose(found) && self.os_user().owns(found.uid())
            });
            if let Some(found) = found {
                // Ignore errors, because reading does not need this change, and `doctor` reports a directory that stays
                // group-writable.
                let _ = set_permissions(&dir, Permissions::from_mode(found.mode() & 0o7755));
            }
        }
    }

    /// Refuses to create a team in a directory of another user, unless the user named the data root. With `sudo`, gives a new
    /// directory to the user who called `sudo`.
    pub(super) fn prepare_teams(&self) -> Result<(), CommandError> {
        let root = self.data_root.as_ref().map_err(Clone::clone)?;
        if root.origin != Origin::Missing {
            return Ok(());
        }
        if root::holds_foreign_teams(&root.path) {
            return Err(self.foreign(&root.path));
        }
        let Ok(place) = symlink_metadata(&root.path) else {
            return Ok(());
        };
        if self.os_user().sudo_uid() == Some(place.uid()) {
            let teams = root.path.join(TEAMS_DIR);
            if DirBuilder::new().mode(0o700).create(&teams).is_ok() {
                let given = chown(&teams, Some(place.uid()), Some(place.gid()));
                let failed = |error| {
                    CommandError::io("set the owner of", &teams.display().to_string(), &error)
                };
                given.map_err(failed)?;
            }
        }
        Ok(())
    }

    fn foreign(&self, root: &Path) -> CommandError {
        let message = format!(
            "{} exists and holds files that are not logs",
            root.join(TEAMS_DIR).display()
        );
        let init = |dir: &str| format!("{} --data-root {dir} init TEAM", self.called.name());
        let hint = format!(
            "to keep the logs in another directory: {}\nto keep the logs in this directory anyway: {}",
            init("DIR"),
            init(&quoted(&root.display().to_string()))
        );
        CommandError::invalid("data_root", message).or_hint(hint)
    }

    /// Refuses to run a daemon as root on the data root of another user, because that user could not use or stop the daemon.
    pub fn check_serves_own(&self) -> Result<(), CommandError> {
        let root = self.data_root()?;
        let Ok(teams) = symlink_metadata(root.join(TEAMS_DIR)) else {
            return Ok(());
        };
        if !self.os_user().is_root() || teams.uid() == 0 {
            return Ok(());
        }
        let uid = teams.uid();
        let message = format!(
            "the data root belongs to user {uid}; run the daemon as that user, not as root"
        );
        let error = CommandError::new(Exit::NotPermitted, "not_owned", message);
        let serve = self.command("serve");
        Err(error
            .about("data_root")
            .or_hint(format!("sudo -u '#{uid}' {serve}")))
    }
}

/// Makes the error for an unusable data root.
pub(super) fn unusable(unusable: Unusable) -> CommandError {
    match unusable {
        Unusable::Io(error) => CommandError::io("find", "the working directory", &error),
        Unusable::NotOwned(error) => {
            let root = error.path.parent().map(Path::to_owned).unwrap_or_default();
            not_owned(&error, &root)
        }
    }
}

fn not_owned(error: &NotOwned, root: &Path) -> CommandError {
    let NotOwned { path, why } = error;
    let message = format!("{} was found, but {why}", path.display());
    let root = quoted(&root.display().to_string());
    let hint =
        format!("if you trust it, name it: --data-root {root}, or export TEAMLOG_DATA_ROOT={root}");
    CommandError::new(Exit::NotPermitted, "not_owned", message)
        .about("data_root")
        .or_hint(hint)
}
