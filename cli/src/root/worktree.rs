//! Finds the git repository around a directory by reading `.git` and `commondir`. Does not run git.

use super::owner::User;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Maximum number of bytes read of `.git` or `commondir`.
const BYTES_MAX: u64 = 16 * 1024;
/// Maximum number of directories that the search for hints reads.
const DIRECTORIES_MAX: usize = 1_000;

/// The git repository around a directory.
#[derive(Debug, Default)]
pub struct Repository {
    /// The worktree that contains the directory.
    top: Option<PathBuf>,
    /// The main worktree, if `top` is a linked worktree.
    main: Option<PathBuf>,
    /// The git directory that all worktrees share.
    common: Option<PathBuf>,
}

impl Repository {
    /// Searches upwards for the nearest `.git`. A file `.git` counts only if the user trusts its owner.
    pub fn around(here: &Path, user: User) -> Repository {
        let found = here.ancestors().find_map(|dir| {
            let found = fs::symlink_metadata(dir.join(".git")).ok()?;
            Some((dir, found))
        });
        let Some((top, found)) = found else {
            return Repository::default();
        };
        let dot_git = top.join(".git");
        let linked = (found.is_file() && user.trusts(found.uid()))
            .then(|| common_dir(&dot_git))
            .flatten();
        let is_in_main = |common: &&PathBuf| common.file_name().is_some_and(|name| name == ".git");
        let main = linked.as_ref().filter(is_in_main);
        Repository {
            main: main.and_then(|common| common.parent().map(Path::to_owned)),
            common: linked.or(found.is_dir().then_some(dot_git)),
            top: Some(top.to_owned()),
        }
    }

    /// Returns the main worktree if the directory is in a linked worktree.
    pub fn main_of_linked(&self) -> Option<&Path> {
        self.main.as_deref()
    }

    /// Returns the directories in which to search for a data root: the directory and its ancestors. In a linked worktree, the
    /// corresponding directories of the main worktree come first.
    pub fn search_order(&self, here: &Path) -> Vec<PathBuf> {
        let above = |dir: &Path| dir.ancestors().map(Path::to_owned).collect::<Vec<_>>();
        let (Some(top), Some(main)) = (&self.top, &self.main) else {
            return above(here);
        };
        let Ok(below) = here.strip_prefix(top) else {
            return above(here);
        };
        let in_main = match below == Path::new("") {
            true => above(main),
            false => above(&main.join(below)),
        };
        let in_linked = above(here);
        // Ancestors outside of the worktree are searched last.
        let (main_depth, top_depth) = (main.ancestors().count(), top.ancestors().count());
        let (inner, outer) = in_main.split_at(in_main.len() + 1 - main_depth);
        let (own, outside) = in_linked.split_at(in_linked.len() + 1 - top_depth);
        [inner, own, outer, outside].concat()
    }

    /// Returns the worktrees of the repository and their subdirectories.
    pub fn directories(&self) -> Vec<PathBuf> {
        let mut tops: Vec<PathBuf> = self.main.iter().chain(&self.top).cloned().collect();
        if let Some(common) = &self.common {
            let linked = children(&common.join("worktrees"));
            tops.extend(linked.iter().filter_map(|private| {
                let dot_git = read(&private.join("gitdir"))?;
                Path::new(dot_git.trim()).parent().map(Path::to_owned)
            }));
        }
        let mut all = tops.clone();
        for top in &tops {
            all.extend(children(top));
        }
        all.truncate(DIRECTORIES_MAX);
        all
    }
}

/// Returns the git directory that a linked worktree shares with the main worktree. Returns `None` for a submodule.
fn common_dir(dot_git: &Path) -> Option<PathBuf> {
    let text = read(dot_git)?;
    let private = dot_git.parent()?.join(text.strip_prefix("gitdir:")?.trim());
    let common = read(&private.join("commondir"))?;
    private.join(common.trim()).canonicalize().ok()
}

fn children(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let dirs = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut dirs: Vec<PathBuf> = dirs.take(DIRECTORIES_MAX).map(|dir| dir.path()).collect();
    dirs.sort();
    dirs
}

/// Reads a small regular file.
fn read(path: &Path) -> Option<String> {
    if !fs::symlink_metadata(path).is_ok_and(|found| found.is_file()) {
        return None;
    }
    let mut text = String::new();
    let file = File::open(path).ok()?;
    file.take(BYTES_MAX).read_to_string(&mut text).ok()?;
    Some(text)
}
