//! Finds the data root: from the option, else from the environment, else the nearest ancestor directory with a `teams/` of
//! logs.
//!
//! A data root that the user named is used without checks. A data root that was found by search must belong to the caller
//! or to root, and must not be writable by others, because a user who can write a log controls the agents.
//!
//! | file | owns |
//! |---|---|
//! | [`owner`] | permitted owners of a data root that was found by search |
//! | [`worktree`] | the repository around a directory: linked worktrees share the root of the main worktree |

pub mod owner;
mod worktree;

use crate::env::ProcessEnv;
use crate::global::Global;
use owner::{NotOwned, User};
use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use teamlog_team::engine::internals::layout::LOG_FILE;
use teamlog_team::handle::root::TEAMS_DIR;
use teamlog_team::lifecycle::ignored::{self, IGNORE_FILE};
use worktree::Repository;

/// Variable that names the data root.
pub const VARIABLE: &str = "TEAMLOG_DATA_ROOT";

/// The directory that contains `teams/`, or in which `teams/` will be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataRoot {
    pub path: PathBuf,
    pub origin: Origin,
}

/// Way in which the data root was determined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// An option or a variable named the data root.
    Named,
    /// A search found the data root.
    Discovered,
    /// No data root was found. `init` would create one in the working directory.
    Missing,
}

/// Reason why a data root cannot be used.
#[derive(Debug)]
pub enum Unusable {
    Io(io::Error),
    NotOwned(NotOwned),
}

/// Returns the data root of a command.
pub fn resolve(global: &Global, env: &ProcessEnv) -> Result<DataRoot, Unusable> {
    let (flag, variable) = (global.data_root.as_deref(), env.var(VARIABLE));
    find(flag, variable, || env.here(), || User::of_process(env))
}

/// Finds the data root. An empty variable counts as not set. `here` and `user` are called only if the root was not named.
pub fn find(
    flag: Option<&Path>,
    variable: Option<OsString>,
    here: impl FnOnce() -> io::Result<PathBuf>,
    user: impl FnOnce() -> User,
) -> Result<DataRoot, Unusable> {
    let variable = variable.filter(|value| !value.is_empty());
    if let Some(path) = flag.map(Path::to_owned).or(variable.map(PathBuf::from)) {
        let origin = Origin::Named;
        return Ok(DataRoot { path, origin });
    }
    discover(&here().map_err(Unusable::Io)?, user()).map_err(Unusable::NotOwned)
}

/// Searches for the data root from a directory upwards.
fn discover(here: &Path, user: User) -> Result<DataRoot, NotOwned> {
    let repository = Repository::around(here, user);
    for dir in repository.search_order(here) {
        if let Some(teams) = teams_in(&dir) {
            owner::check(&dir.join(TEAMS_DIR), &teams, user)?;
            let (path, origin) = (dir, Origin::Discovered);
            return Ok(DataRoot { path, origin });
        }
    }
    // All worktrees of a repository share one data root.
    let path = repository.main_of_linked().unwrap_or(here).to_owned();
    let origin = Origin::Missing;
    Ok(DataRoot { path, origin })
}

/// Returns other data roots that a command in `here` may mean: the root that a search finds, and the roots in the worktrees
/// of the repository and their subdirectories. Used for hints; reads a limited number of directories.
pub fn elsewhere(root: &Path, here: &Path, user: User) -> Vec<PathBuf> {
    let same = |one: &Path| match (one.canonicalize(), root.canonicalize()) {
        (Ok(one), Ok(root)) => one == root,
        _ => one == root,
    };
    let repository = Repository::around(here, user);
    let mut found = repository.search_order(here);
    found.extend(repository.directories());
    found.retain(|dir| {
        let teams = teams_in(dir);
        teams.is_some_and(|teams| owner::check(&dir.join(TEAMS_DIR), &teams, user).is_ok())
    });
    found.retain(|dir| !same(dir));
    let mut known: Vec<PathBuf> = Vec::new();
    for dir in found {
        if !known.contains(&dir) {
            known.push(dir);
        }
    }
    known
}

/// Returns the metadata of the directory's `teams/` if it belongs to teamlog, that is, if it has teamlog's ignore file or a
/// log. Also returns the metadata if `teams/` cannot be read.
fn teams_in(dir: &Path) -> Option<Metadata> {
    let teams = dir.join(TEAMS_DIR);
    let metadata = fs::symlink_metadata(&teams).ok()?;
    (metadata.is_dir() && is_ours(&teams)).then_some(metadata)
}

fn is_ours(teams: &Path) -> bool {
    has_own_ignore_file(teams) || holds_log(teams)
}

fn has_own_ignore_file(teams: &Path) -> bool {
    let mut head = [0; 64];
    let path = teams.join(IGNORE_FILE);
    // Do not open a device or a pipe.
    if !fs::symlink_metadata(&path).is_ok_and(|found| found.is_file()) {
        return false;
    }
    let read = File::open(path).and_then(|mut file| file.read(&mut head));
    read.is_ok_and(|len| head.get(..len).is_some_and(ignored::is_own))
}

fn holds_log(teams: &Path) -> bool {
    let entries = match fs::read_dir(teams) {
        Ok(entries) => entries,
        Err(error) => return error.kind() == ErrorKind::PermissionDenied,
    };
    let mut dirs = entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    dirs.any(|dir| dir.path().join(LOG_FILE).is_file())
}

/// Returns true if `teams/` in the directory has files but no log.
pub fn holds_foreign_teams(dir: &Path) -> bool {
    let teams = dir.join(TEAMS_DIR);
    let holds_any = fs::read_dir(&teams).is_ok_and(|mut entries| entries.next().is_some());
    holds_any && !is_ours(&teams)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir, create_dir_all, write};

    fn user() -> User {
        User::new(rustix::process::geteuid().as_raw(), None)
    }

    fn make_root(dir: &Path) {
        create_dir_all(dir.join("teams/demo")).unwrap();
        write(dir.join("teams/demo/log.json"), "{}").unwrap();
    }

    fn discovered(here: &Path) -> (PathBuf, Origin) {
        let found = find(None, None, || Ok(here.to_owned()), user).unwrap();
        (found.path, found.origin)
    }

    #[test]
    fn flag_then_variable_then_ancestor_then_here() {
        let top = tempfile::tempdir().unwrap();
        let below = top.path().join("a/b");
        create_dir_all(&below).unwrap();
        let variable = || Some("/var/of".into());
        let found = |flag: Option<&str>, variable| {
            let found = find(flag.map(Path::new), variable, || Ok(below.clone()), user).unwrap();
            (found.path, found.origin)
        };
        assert_eq!(
            found(Some("/flag"), variable()),
            ("/flag".into(), Origin::Named)
        );
        assert_eq!(found(None, variable()), ("/var/of".into(), Origin::Named));
        let missing = (below.clone(), Origin::Missing);
        assert_eq!(found(None, Some("".into())), missing);
        make_root(top.path());
        let above = (top.path().to_owned(), Origin::Discovered);
        assert_eq!(found(None, None), above);
        // A `teams/` with source files is no data root.
        create_dir_all(below.join("teams/models")).unwrap();
        write(below.join("teams/models/team.rs"), "").unwrap();
        assert_eq!(found(None, None), above);
        assert!(holds_foreign_teams(&below) && !holds_foreign_teams(top.path()));
        write(
            below.join("teams/.gitignore"),
            "# Written by teamlog, and replaced by it.\n*\n",
        )
        .unwrap();
        assert_eq!(found(None, None), (below.clone(), Origin::Discovered));
    }

    /// Creates a repository `main` with a linked worktree `linked`, as git does.
    fn repository(top: &Path) -> (PathBuf, PathBuf) {
        let (main, linked) = (top.join("main"), top.join("linked"));
        let private = main.join(".git/worktrees/linked");
        create_dir_all(&private).unwrap();
        create_dir_all(linked.join("src")).unwrap();
        write(private.join("commondir"), "../..\n").unwrap();
        let file = linked.join(".git");
        write(private.join("gitdir"), format!("{}\n", file.display())).unwrap();
        write(file, format!("gitdir: {}\n", private.display())).unwrap();
        (main.canonicalize().unwrap(), linked.canonicalize().unwrap())
    }

    #[test]
    fn a_linked_worktree_shares_the_root_of_the_main_one() {
        let top = tempfile::tempdir().unwrap();
        let (main, linked) = repository(top.path());
        let below = linked.join("src");
        assert_eq!(discovered(&below), (main.clone(), Origin::Missing));
        // Older versions created a root in the linked worktree. Such a root counts if the main worktree has no root.
        make_root(&linked);
        assert_eq!(discovered(&below), (linked.clone(), Origin::Discovered));
        assert_eq!(elsewhere(&main, &main, user()), vec![linked.clone()]);
        make_root(top.path());
        assert_eq!(discovered(&below), (linked, Origin::Discovered));
        make_root(&main);
        assert_eq!(discovered(&below), (main.clone(), Origin::Discovered));
        assert_eq!(discovered(&main), (main, Origin::Discovered));
    }

    #[test]
    fn a_root_deeper_in_the_repository_is_shared_too() {
        let top = tempfile::tempdir().unwrap();
        let (main, linked) = repository(top.path());
        make_root(&main.join("src"));
        make_root(&linked.join("src"));
        let shared = main.join("src");
        assert_eq!(
            discovered(&linked.join("src")),
            (shared.clone(), Origin::Discovered)
        );
        // A search from the top of the repository does not find the root of the linked worktree, but hints name this
        // root.
        assert_eq!(discovered(&linked).1, Origin::Missing);
        let known = elsewhere(&main, &main, user());
        assert!(known.contains(&shared), "{known:?}");
    }

    #[test]
    fn a_submodule_is_no_linked_worktree() {
        let top = tempfile::tempdir().unwrap();
        let module = top.path().join("module");
        create_dir_all(top.path().join(".git/modules/module")).unwrap();
        create_dir(&module).unwrap();
        write(module.join(".git"), "gitdir: ../.git/modules/module\n").unwrap();
        assert_eq!(discovered(&module), (module.clone(), Origin::Missing));
        make_root(top.path());
        assert_eq!(discovered(&module).0, top.path());
    }
}
