//! Files of the log that a git repository tracks: git puts older bytes in their place.

use super::*;

/// The files of a team that git tracks, as the caller found out; this crate never starts git.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum TrackedByGit {
    /// Git was not asked or did not answer.
    #[default]
    Unknown,
    /// The files of the team that git tracks, relative to the data root.
    Files(Vec<String>),
}

pub(super) fn check(seen: &Observed<'_>) -> Seen<Check> {
    let TrackedByGit::Files(files) = &seen.check.tracked else {
        return Ok(Check::healthy(
            "not looked at: there is no repository, or no git",
        ));
    };
    let Some(first) = files.first() else {
        return Ok(Check::healthy("no file of the log is tracked"));
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
