//! Asks git which files of a team are tracked. Only `doctor` runs git. Finding the data root reads git's files directly
//! (`root/worktree.rs`).

use std::path::Path;
use std::process::{Command, Stdio};
use teamlog_team::doctor::TrackedByGit;
use teamlog_team::handle::root::TEAMS_DIR;

/// Variables that make git use another repository.
const ELSEWHERE: [&str; 4] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
];

/// Returns the files of a team that git tracks. Returns `Unknown` outside of a repository or if git fails.
pub fn tracked(data_root: &Path, team: &str) -> TrackedByGit {
    let Ok(place) = data_root.canonicalize() else {
        return TrackedByGit::Unknown;
    };
    if !place.ancestors().any(|dir| dir.join(".git").exists()) {
        return TrackedByGit::Unknown;
    }
    let mut git = Command::new("git");
    // Disable the setting `core.fsmonitor`, because it can name a program that git would run.
    git.args(["-c", "core.fsmonitor=false", "-C"]).arg(&place);
    git.args(["ls-files", "-z", "--"]);
    git.arg(Path::new(TEAMS_DIR).join(team));
    for variable in ELSEWHERE {
        git.env_remove(variable);
    }
    let asked = git
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_LITERAL_PATHSPECS", "1")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    match asked {
        Ok(answer) if answer.status.success() => {
            let names = String::from_utf8_lossy(&answer.stdout);
            let names = names.split('\0').filter(|name| !name.is_empty());
            TrackedByGit::Files(names.map(str::to_owned).collect())
        }
        _ => TrackedByGit::Unknown,
    }
}
