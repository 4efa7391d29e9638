//! Check `git`: files of the log that a git repository tracks. A checkout would overwrite such files with older bytes.

use super::*;

/// Files of a team that git tracks. The caller finds these files, because this crate never starts
/// git.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum TrackedByGit {
    /// The caller did not run git, or git did not answer.
    #[default]
    Unknown,
    /// Tracked files of the team, relative to the data root.
    Files(Vec<String>),
}

pub(super) fn check(seen: &Observations<'_>) -> Observation<Check> {
    let TrackedByGit::Files(files) = &seen.check.tracked else {
        return Ok(Check::healthy(
            "not checked: no repository was found, or git did not run",
        ));
    };
    let Some(first) = files.first() else {
        return Ok(Check::healthy("git tracks no file of the log"));
    };
    let summary = format!(
        "git tracks {} of the team, {first} among them: a stash, checkout, switch or merge would put older events back",
        match files.len() {
            1 => "1 file".to_owned(),
            many => format!("{many} files"),
        }
    );
    let root = shell::quoted(&seen.check.data_root.to_string_lossy());
    let team = shell::quoted(&seen.dir.to_string_lossy());
    let listed: Vec<_> = files.iter().take(LISTED_MAX).collect();
    let check = Check::warn(summary).details(json!({"tracked": files.len(), "files": listed}));
    Ok(check.recommend(format!("git -C {root} rm -r -q --cached {team}")))
}
