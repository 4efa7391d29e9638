//! Check `access`: owner and mode of the team's files. The files have one owner, or a group that shares the root.

use super::*;
use crate::handle::root::TEAMS_DIR;
use crate::lifecycle::sharing::{is_personal, shared_mode};
use teamlog_engine::storage::{Access, Files};

/// Mode bits that let the group and others write.
const WRITABLE_BY_OTHERS: u32 = 0o022;
/// Maximum number of files and directories that the check examines.
const FILES_MAX: usize = 20_000;

/// Compares owner and mode of a team's files with owner and mode of the team's directory.
pub(super) fn check(seen: &Observations<'_>) -> Observation<Check> {
    let Some(files) = seen.root.files() else {
        return Ok(Check::healthy("the data root is in memory"));
    };
    let access_of = |path: &Path| {
        let found = files.access(path).map_err(error_text)?;
        found.ok_or_else(|| "it is gone".to_owned())
    };
    let teams = access_of(Path::new(TEAMS_DIR))?;
    let team = access_of(&seen.dir)?;
    let rule = Rule { teams, team };
    let mut walk = Walk {
        files,
        rule,
        left: FILES_MAX,
        faults: Faults::default(),
    };
    walk.judge(Path::new(TEAMS_DIR), &teams);
    walk.below(&seen.dir).map_err(error_text)?;
    Ok(judged(seen, &rule, &walk.faults))
}

/// The owner, group and mode that a team's files must have.
#[derive(Clone, Copy)]
struct Rule {
    teams: Access,
    team: Access,
}

impl Rule {
    fn is_shared(&self) -> bool {
        self.teams.is_shared() || self.team.is_shared()
    }
}

/// Files that break the rule, sorted by the command that repairs them.
#[derive(Default)]
struct Faults {
    /// Files whose owner is not the owner of the team's directory.
    foreign: Vec<String>,
    /// Files with a wrong mode: the group or others can write, or, in a shared root, the group
    /// cannot write.
    mode: Vec<String>,
}

struct Walk<'a> {
    files: &'a Files,
    rule: Rule,
    left: usize,
    faults: Faults,
}

impl Walk<'_> {
    fn below(&mut self, path: &Path) -> std::io::Result<()> {
        let Some(access) = self.files.access(path)? else {
            return Ok(());
        };
        self.judge(path, &access);
        if !access.is_dir {
            return Ok(());
        }
        for name in self.files.list(path)? {
            if self.left == 0 {
                return Ok(());
            }
            self.left -= 1;
            self.below(&path.join(name))?;
        }
        Ok(())
    }

    fn judge(&mut self, path: &Path, access: &Access) {
        let is_plain = access.is_dir || access.is_file;
        if !is_plain || is_personal(path) {
            return;
        }
        let name = || path.to_string_lossy().into_owned();
        let is_shared = self.rule.is_shared();
        let has_owner = path == Path::new(TEAMS_DIR) || access.uid == self.rule.team.uid;
        if !is_shared && !has_owner {
            self.faults.foreign.push(name());
        }
        let mode_is_right = match is_shared {
            true => (access.gid, access.mode) == (self.rule.teams.gid, shared_mode(access)),
            false => access.mode & WRITABLE_BY_OTHERS == 0,
        };
        if !mode_is_right {
            self.faults.mode.push(name());
        }
    }
}

fn judged(seen: &Observations<'_>, rule: &Rule, faults: &Faults) -> Check {
    let Access { uid, gid, .. } = rule.team;
    let place = |path: &Path| shell::quoted(&seen.check.data_root.join(path).to_string_lossy());
    let count = |paths: &[String]| match paths {
        [only] => only.clone(),
        [first, ..] => format!("{} files, {first} among them,", paths.len()),
        [] => String::new(),
    };
    let listed = |paths: &[String]| paths.iter().take(LISTED_MAX).cloned().collect::<Vec<_>>();
    let mut check = match (faults.foreign.is_empty(), faults.mode.is_empty()) {
        (false, _) => {
            let which = count(&faults.foreign);
            let summary = format!(
                "the owner of {which} is not user {uid}, who owns the team and may be locked out"
            );
            let change = format!("sudo chown -R {uid}:{gid} {}", place(&seen.dir));
            Check::unhealthy(summary).recommend(change)
        }
        (true, false) if rule.is_shared() => {
            let which = count(&faults.mode);
            let group = rule.teams.gid;
            let summary = format!(
                "the access of {which} is not that of a shared root: group {group}, directories 2770, files 0660"
            );
            let again = seen.command("init", &format!("--shared {group}"));
            Check::warn(summary).recommend(again)
        }
        (true, false) => {
            let which = count(&faults.mode);
            let summary = format!("{which} can be written by other users");
            let change = format!("chmod -R go-w {}", place(Path::new(TEAMS_DIR)));
            Check::warn(summary).recommend(change)
        }
        (true, true) if rule.is_shared() => {
            Check::healthy(format!("shared by group {}", rule.teams.gid))
        }
        (true, true) => Check::healthy(format!("only user {uid} can write")),
    };
    check = check.details(json!({
        "owner": uid,
        "shared_group": rule.is_shared().then_some(rule.teams.gid),
        "foreign": listed(&faults.foreign),
        "wrong_mode": listed(&faults.mode),
    }));
    check
}
