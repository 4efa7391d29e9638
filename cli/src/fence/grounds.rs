//! Computes the writable places of a fenced command. Does no I/O: the caller passes the function that lists a directory.
//!
//! The kernel knows only grants. Each grant covers a place and everything below this place. Everything except the
//! repository and the data root must be writable. Therefore the grants are the siblings of all directories on the
//! paths from `/` to the repository and to the data root, and the leased paths in the repository.

use std::path::{Path, PathBuf};
use teamlog_team::resource::pattern::Pattern;

/// Directories that determine the writable places of a fenced command. Every path is absolute and without symlinks.
#[derive(Debug, Clone)]
pub struct WritablePaths {
    /// The repository, in which only leased paths are writable.
    pub repository: PathBuf,
    /// The data root, which is read-only except for scratch directories.
    pub data_root: PathBuf,
    /// Files of teamlog in the data root. These files are always read-only.
    pub own: Vec<PathBuf>,
    /// Directories that are writable, even inside the repository or the data root.
    pub scratch: Vec<PathBuf>,
    /// Paths that the agent holds, relative to the repository.
    pub leased: Vec<Pattern>,
}

/// A file, or a directory with everything below it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Node {
    pub path: PathBuf,
    pub is_dir: bool,
}

/// Kind of the innermost directory of [`WritablePaths`] that contains a place.
enum Around {
    Nothing,
    Repository,
    DataRoot,
    Scratch,
}

impl WritablePaths {
    /// Returns all writable places. `list` returns the entries of a directory except symlinks, because the target of a symlink
    /// is a separate place.
    pub fn writable(&self, list: impl Fn(&Path) -> Vec<Node>) -> Vec<Node> {
        let mut writable = Vec::new();
        let mut left = vec![Node {
            path: PathBuf::from("/"),
            is_dir: true,
        }];
        while let Some(node) = left.pop() {
            if self.own.contains(&node.path) {
                continue;
            }
            let free = self.is_free(&node.path);
            if free && !self.holds_closed(&node.path) {
                writable.push(node);
            } else if node.is_dir && (free || self.may_hold_free(&node.path)) {
                left.extend(list(&node.path));
            }
        }
        writable.sort();
        writable
    }

    /// Returns the leased paths that do not exist. The kernel cannot grant access to missing paths.
    pub fn missing(&self, is_there: impl Fn(&Path) -> bool) -> Vec<String> {
        let literal = self.leased.iter().filter(|leased| leased.is_literal());
        let names = literal.map(ToString::to_string);
        names
            .filter(|name| !is_there(&self.repository.join(name)))
            .collect()
    }

    fn is_free(&self, path: &Path) -> bool {
        match self.around(path) {
            Around::Nothing | Around::Scratch => true,
            Around::DataRoot => false,
            Around::Repository => {
                let inside = self.inside(path);
                self.leased.iter().any(|leased| leased.covers(&inside))
            }
        }
    }

    /// Returns true if a place below the writable place `path` must stay read-only.
    fn holds_closed(&self, path: &Path) -> bool {
        let closed = [&self.repository, &self.data_root];
        closed
            .into_iter()
            .chain(&self.own)
            .any(|closed| closed != path && closed.starts_with(path))
    }

    /// Returns true if a place below the read-only place `path` may be writable.
    fn may_hold_free(&self, path: &Path) -> bool {
        let free = self.scratch.iter().chain([&self.repository]);
        let mut free = free.filter(|free| *free != path);
        free.any(|free| free.starts_with(path))
            || matches!(self.around(path), Around::Repository) && {
                let inside = self.inside(path);
                self.leased.iter().any(|leased| leased.reaches(&inside))
            }
    }

    fn around(&self, path: &Path) -> Around {
        let depth = |dir: &Path| path.starts_with(dir).then(|| dir.components().count());
        let scratch = self.scratch.iter().filter_map(|dir| depth(dir)).max();
        let (repository, data_root) = (depth(&self.repository), depth(&self.data_root));
        if scratch > repository.max(data_root) {
            return Around::Scratch;
        }
        match (repository, data_root) {
            (None, None) => Around::Nothing,
            (repository, data_root) if repository >= data_root => Around::Repository,
            _ => Around::DataRoot,
        }
    }

    /// Converts a path inside the repository into the form of resources.
    fn inside(&self, path: &Path) -> String {
        let inside = path.strip_prefix(&self.repository).unwrap_or(path);
        inside.to_string_lossy().into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All files of a small test disk. A path with entries below it, or with a slash at its end, is a directory.
    const DISK: &[&str] = &[
        "/bin/sh",
        "/dev/null",
        "/home/me/app/.git/config",
        "/home/me/app/build/",
        "/home/me/app/docs/a.md",
        "/home/me/app/src/a.rs",
        "/home/me/app/src/b.md",
        "/home/me/app/src/io/deep/x.rs",
        "/home/me/app/src/test/t.rs",
        "/home/me/log/notes",
        "/home/me/log/teamd/",
        "/home/me/log/teams/demo/LOG",
        "/home/me/other/x",
        "/home/me/profile",
        "/home/you/x",
        "/tmp/",
    ];

    fn list(dir: &Path) -> Vec<Node> {
        let mut nodes: Vec<Node> = DISK
            .iter()
            .filter_map(|path| {
                let mut parts = Path::new(path).strip_prefix(dir).ok()?.components();
                let path_inside = dir.join(parts.next()?);
                let is_dir = parts.next().is_some() || path.ends_with('/');
                Some(Node {
                    path: path_inside,
                    is_dir,
                })
            })
            .collect();
        nodes.sort();
        nodes.dedup();
        nodes
    }

    fn grounds(
        repository: &str,
        data_root: &str,
        leased: &[&str],
        scratch: &[&str],
    ) -> WritablePaths {
        let leased = leased.iter().map(|text| Pattern::parse(text).unwrap());
        WritablePaths {
            repository: repository.into(),
            data_root: data_root.into(),
            own: vec![
                Path::new(data_root).join("teams"),
                Path::new(data_root).join("teamd"),
            ],
            scratch: scratch.iter().map(PathBuf::from).collect(),
            leased: leased.collect(),
        }
    }

    /// Returns the writable places. Directories have a slash at the end.
    fn told(grounds: &WritablePaths) -> Vec<String> {
        let shown = |node: Node| match node.is_dir {
            true => format!("{}/", node.path.display()),
            false => node.path.display().to_string(),
        };
        grounds.writable(list).into_iter().map(shown).collect()
    }

    /// Test cases: leased paths, scratch directories, and the expected writable places.
    const INSIDE: &[(&str, &str, &str)] = &[
        ("", "", ""),
        ("src/io", "", "/home/me/app/src/io/"),
        ("src/a.rs", "", "/home/me/app/src/a.rs"),
        ("src/*.rs new", "", "/home/me/app/src/a.rs"),
        (
            "**/*.rs",
            "",
            "/home/me/app/src/a.rs /home/me/app/src/io/deep/x.rs /home/me/app/src/test/t.rs",
        ),
        (".", "", "/home/me/app/"),
        // A build directory inside the repository, a build directory around everything, and a build directory in the
        // data root.
        ("", "/home/me/app/build", "/home/me/app/build/"),
        ("src", "/ /home/me", "/home/me/app/src/"),
        ("", "/home/me/log/notes", "/home/me/log/notes"),
        ("", "/home/me/log/teams", ""),
    ];

    fn words(text: &str) -> Vec<&str> {
        text.split_whitespace().collect()
    }

    /// Returns the writable places outside of the home directory, and `more`.
    fn outside(more: &str) -> Vec<String> {
        let mut all = words("/bin/ /dev/ /home/you/ /tmp/");
        all.extend(words(more));
        all.sort_unstable();
        all.into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn the_neighbours_of_the_way_to_what_is_closed_are_free_and_what_is_leased() {
        for (leased, scratch, more) in INSIDE {
            let grounds = grounds(
                "/home/me/app",
                "/home/me/log",
                &words(leased),
                &words(scratch),
            );
            let expected = outside(&format!("/home/me/other/ /home/me/profile {more}"));
            assert_eq!(told(&grounds), expected, "{leased} {scratch}");
        }
    }

    #[test]
    fn the_log_stays_closed_where_the_repository_is_its_data_root_or_holds_it() {
        let log = "/home/me/log";
        for (repository, data_root, leased, more) in [
            (
                log,
                log,
                ".",
                "/home/me/app/ /home/me/other/ /home/me/profile /home/me/log/notes",
            ),
            (
                "/home/me",
                log,
                ".",
                "/home/me/app/ /home/me/other/ /home/me/profile",
            ),
            ("/home/me/app", "/home/me", "docs", "/home/me/app/docs/"),
        ] {
            let grounds = grounds(repository, data_root, &[leased], &[]);
            assert_eq!(told(&grounds), outside(more), "{repository} {data_root}");
        }
    }

    #[test]
    fn a_lease_on_what_is_not_there_grants_nothing_and_is_told() {
        let leased = ["src/io", "src/new", "src/*.c"];
        let grounds = grounds("/home/me/app", "/home/me/log", &leased, &[]);
        let there = |path: &Path| path == Path::new("/home/me/app/src/io");
        assert_eq!(grounds.missing(there), ["src/new"]);
    }
}
