//! Which places a fenced command may write. Pure, but for the listing of directories that it is given.
//!
//! The kernel only knows grants, each for a place and all below it. Everything but the repository and the data root is to
//! be writable, so that what is granted are the neighbours of the way from `/` to these two, and what is leased inside.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use teamlog_team::resource::pattern::Pattern;

/// Where a command runs. Every path is absolute and without symbolic links.
#[derive(Debug, Clone)]
pub struct Grounds {
    /// Writable where a lease says so.
    pub repository: PathBuf,
    /// Read-only.
    pub data_root: PathBuf,
    /// What teamlog itself keeps in the data root: read-only whatever else is granted.
    pub own: Vec<PathBuf>,
    /// Writable, also inside of the two.
    pub scratch: Vec<PathBuf>,
    /// What the agent holds, relative to the repository.
    pub leased: Vec<Pattern>,
}

/// What lies in a directory, symbolic links left out: where one leads is a place of its own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    pub name: OsString,
    pub is_dir: bool,
}

/// A place that may be written: a directory with all below it, or a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    pub path: PathBuf,
    pub is_dir: bool,
}

/// What the innermost of the named directories around a place is.
enum Around {
    Nothing,
    Repository,
    DataRoot,
    Scratch,
}

impl Grounds {
    /// All places that may be written.
    pub fn writable(&self, list: impl Fn(&Path) -> Vec<Entry>) -> Vec<Spot> {
        let mut spots = Vec::new();
        let mut left = vec![Spot {
            path: PathBuf::from("/"),
            is_dir: true,
        }];
        while let Some(spot) = left.pop() {
            if self.own.contains(&spot.path) {
                continue;
            }
            let free = self.is_free(&spot.path);
            if free && !self.holds_closed(&spot.path) {
                spots.push(spot);
            } else if spot.is_dir && (free || self.may_hold_free(&spot.path)) {
                left.extend(list(&spot.path).into_iter().map(|entry| Spot {
                    path: spot.path.join(entry.name),
                    is_dir: entry.is_dir,
                }));
            }
        }
        spots.sort();
        spots
    }

    /// Leased paths that stand for nothing that is there: nothing can be granted for them.
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

    /// Whether something below a free place is not free.
    fn holds_closed(&self, path: &Path) -> bool {
        let closed = [&self.repository, &self.data_root];
        closed
            .into_iter()
            .chain(&self.own)
            .any(|closed| closed != path && closed.starts_with(path))
    }

    /// Whether something below a closed place may be free.
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

    /// A path of the repository as resources name it.
    fn inside(&self, path: &Path) -> String {
        let inside = path.strip_prefix(&self.repository).unwrap_or(path);
        inside.to_string_lossy().into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every file of a small disk; a directory is what has something below it, or ends in a slash.
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

    fn list(dir: &Path) -> Vec<Entry> {
        let mut entries: Vec<Entry> = DISK
            .iter()
            .filter_map(|path| {
                let rest = Path::new(path).strip_prefix(dir).ok()?;
                let mut parts = rest.components();
                let name = parts.next()?.as_os_str().to_owned();
                let is_dir = parts.next().is_some() || path.ends_with('/');
                Some(Entry { name, is_dir })
            })
            .collect();
        entries.sort();
        entries.dedup();
        entries
    }

    fn grounds(repository: &str, data_root: &str, leased: &[&str], scratch: &[&str]) -> Grounds {
        let leased = leased.iter().map(|text| Pattern::parse(text).unwrap());
        Grounds {
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

    /// The writable places, directories with a slash at their end.
    fn told(grounds: &Grounds) -> Vec<String> {
        let shown = |spot: Spot| match spot.is_dir {
            true => format!("{}/", spot.path.display()),
            false => spot.path.display().to_string(),
        };
        grounds.writable(list).into_iter().map(shown).collect()
    }

    const BESIDE: &[&str] = &[
        "/bin/",
        "/dev/",
        "/home/me/other/",
        "/home/me/profile",
        "/home/you/",
        "/tmp/",
    ];

    fn beside(more: &[&str]) -> Vec<String> {
        let mut all: Vec<&str> = [BESIDE, more].concat();
        all.sort_unstable();
        all.into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn the_neighbours_of_the_way_to_what_is_closed_are_free_and_what_is_leased() {
        let told = |leased: &[&str], scratch: &[&str]| {
            told(&grounds("/home/me/app", "/home/me/log", leased, scratch))
        };
        assert_eq!(told(&[], &[]), beside(&[]));
        for (leased, scratch, more) in [
            (&["src/io"][..], &[][..], &["/home/me/app/src/io/"][..]),
            (&["src/a.rs"], &[], &["/home/me/app/src/a.rs"]),
            (&["src/*.rs", "new"], &[], &["/home/me/app/src/a.rs"]),
            (
                &["**/*.rs"],
                &[],
                &[
                    "/home/me/app/src/a.rs",
                    "/home/me/app/src/io/deep/x.rs",
                    "/home/me/app/src/test/t.rs",
                ],
            ),
            (&["."], &[], &["/home/me/app/"]),
            // A build directory inside, one around everything, and one in the data root.
            (&[], &["/home/me/app/build"], &["/home/me/app/build/"]),
            (&["src"], &["/", "/home/me"], &["/home/me/app/src/"]),
            (&[], &["/home/me/log/notes"], &["/home/me/log/notes"]),
        ] {
            assert_eq!(
                told(leased, scratch),
                beside(more),
                "{leased:?} {scratch:?}"
            );
        }
    }

    #[test]
    fn the_log_stays_closed_where_the_repository_is_its_data_root_or_holds_it() {
        let outside = ["/bin/", "/dev/", "/home/you/", "/tmp/"];
        let with = |more: &[&str]| -> Vec<String> {
            let mut all = [&outside[..], more].concat();
            all.sort_unstable();
            all.into_iter().map(str::to_owned).collect()
        };
        let log = "/home/me/log";
        let own = grounds(log, log, &["."], &[]);
        let neighbours = ["/home/me/app/", "/home/me/other/", "/home/me/profile"];
        assert_eq!(
            told(&own),
            with(&[&neighbours[..], &["/home/me/log/notes"]].concat())
        );
        let inner = grounds("/home/me", log, &["."], &[]);
        assert_eq!(told(&inner), with(&neighbours));
        let outer = grounds("/home/me/app", "/home/me", &["docs"], &[]);
        assert_eq!(told(&outer), with(&["/home/me/app/docs/"]));
        let scratch = grounds("/home/me/app", log, &[], &["/home/me/log/teams"]);
        assert_eq!(told(&scratch), beside(&[]));
    }

    #[test]
    fn a_lease_on_what_is_not_there_grants_nothing_and_is_told() {
        let leased = ["src/io", "src/new", "src/*.c"];
        let grounds = grounds("/home/me/app", "/home/me/log", &leased, &[]);
        let there = |path: &Path| path == Path::new("/home/me/app/src/io");
        assert_eq!(grounds.missing(there), ["src/new"]);
    }
}
