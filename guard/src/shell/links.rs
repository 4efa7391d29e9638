//! Symlinks that a command creates, and directories that the command moves or copies. Such links and directories
//! redirect paths that the command writes later.
//!
//! The caller resolves links on the disk, but the links of the command do not exist there yet.

use crate::place::tidy;

/// Maximum number of targets that are followed for one path.
const PLACES_MAX: usize = 64;

/// The links that a command has created so far.
#[derive(Debug, Default)]
pub(super) struct Links {
    made: Vec<Link>,
    /// True if a link was created at an unknown path.
    anywhere: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Link {
    at: String,
    /// Target of the link, or `None` if it is unknown.
    target: Option<String>,
    /// True if the path itself leads to the target. False if only entries below the path lead there.
    itself: bool,
}

/// The parts of a path in which links are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Follow {
    /// Links in the whole path. If everything below the path may be written, also links below the path.
    Through,
    /// Links in the whole path and below it, because whole directories are copied there.
    Deep,
    /// Links in the path without its last name, because a link with the last name is replaced or removed.
    Entry,
    /// Like `Entry`, but not links below the path.
    Tree,
}

impl Follow {
    fn is_through(self) -> bool {
        matches!(self, Follow::Through | Follow::Deep)
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct LinkTargets {
    pub paths: Vec<String>,
    /// True if a link may also redirect the path to an unknown path.
    pub unknown: bool,
}

impl Links {
    pub fn len(&self) -> usize {
        self.made.len() + usize::from(self.anywhere)
    }

    /// Adds a link at the path `at`. If `itself` is false, only entries below `at` lead to the target.
    pub fn add(&mut self, at: &str, target: Option<String>, itself: bool) {
        if target
            .as_deref()
            .is_some_and(|target| tidy(target) == tidy(at))
        {
            return;
        }
        for at in self.follow(at, false, Follow::Entry).paths {
            let link = Link {
                at: tidy(&at),
                target: target.clone(),
                itself,
            };
            if !self.made.contains(&link) {
                self.made.push(link);
            }
        }
    }

    /// Returns true if the command created a link from `at` to `target`.
    pub fn contains(&self, at: &str, target: &str) -> bool {
        let at = tidy(at);
        self.made
            .iter()
            .any(|link| link.at == at && link.target.as_deref() == Some(target))
    }

    pub fn add_anywhere(&mut self) {
        self.anywhere = true;
    }

    /// Returns all paths to which links may redirect a path. The path itself is included.
    pub fn follow(&self, path: &str, below: bool, follow: Follow) -> LinkTargets {
        let mut targets = LinkTargets {
            paths: vec![path.to_owned()],
            unknown: self.anywhere,
        };
        let mut at = 0;
        while let Some(path) = targets.paths.get(at).cloned() {
            at += 1;
            for link in &self.made {
                for path in [&path, &tidy(&path)] {
                    match link.apply(path, below, follow) {
                        None => {}
                        Some(None) => targets.unknown = true,
                        Some(Some(_)) if targets.paths.len() >= PLACES_MAX => {
                            targets.unknown = true
                        }
                        Some(Some(path)) if targets.paths.contains(&path) => {}
                        Some(Some(path)) => targets.paths.push(path),
                    }
                }
            }
        }
        targets
    }
}

impl Link {
    /// Follows this link in a path. Returns the resulting path, or `None` if the path does not go through this link.
    fn apply(&self, path: &str, below: bool, follow: Follow) -> Option<Option<String>> {
        let through = |rest: &str| {
            let target = self.target.as_deref()?;
            Some(match rest {
                "" => target.to_owned(),
                rest => format!("{}{rest}", target.trim_end_matches('/')),
            })
        };
        if let Some(rest) = path.strip_prefix(&self.at) {
            return match rest {
                "" if (self.itself || below) && follow.is_through() => Some(through("")),
                rest if rest.starts_with('/') => Some(through(rest)),
                _ => None,
            };
        }
        let deep = follow == Follow::Deep || (below && follow != Follow::Tree);
        let inside = deep && is_below(&self.at, path);
        inside.then(|| through(""))
    }
}

fn is_below(path: &str, dir: &str) -> bool {
    let rest = path.strip_prefix(dir.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets_of(links: &Links, path: &str, below: bool, follow: Follow) -> (Vec<String>, bool) {
        let targets = links.follow(path, below, follow);
        (targets.paths, targets.unknown)
    }

    #[test]
    fn paths_lead_through_links_on_their_way() {
        let mut links = Links::default();
        links.add("/r/y", Some("/x".into()), true);
        links.add("/r/z/", Some("/r/y".into()), true);
        links.add("/r/copy", None, false);
        for (path, expected, unknown) in [
            ("/r/y", vec!["/r/y", "/x"], false),
            ("/r/y/a", vec!["/r/y/a", "/x/a"], false),
            ("/r/b/../y/a", vec!["/r/b/../y/a", "/x/a"], false),
            ("/r/z/a", vec!["/r/z/a", "/r/y/a", "/x/a"], false),
            ("/r/yy", vec!["/r/yy"], false),
            ("/r/copy", vec!["/r/copy"], false),
            ("/r/copy/a", vec!["/r/copy/a"], true),
        ] {
            let expected = expected.into_iter().map(str::to_owned).collect();
            assert_eq!(
                targets_of(&links, path, false, Follow::Through),
                (expected, unknown),
                "{path}"
            );
        }
        let entry = |path: &str| targets_of(&links, path, false, Follow::Entry).0.len();
        assert_eq!((entry("/r/y"), entry("/r/y/a")), (1, 2));
        let below = |follow| targets_of(&links, "/r", true, follow);
        assert_eq!(
            below(Follow::Through),
            (vec!["/r".into(), "/x".into(), "/r/y".into()], true)
        );
        assert_eq!(below(Follow::Tree), (vec!["/r".into()], false));
        let here = |follow| targets_of(&links, "/r", false, follow).0.len();
        assert_eq!((here(Follow::Through), here(Follow::Deep)), (1, 3));
    }

    #[test]
    fn circular_links_end_at_their_start_or_at_an_unknown_path() {
        let mut links = Links::default();
        links.add("/a", Some("/b".into()), true);
        links.add("/b", Some("/a".into()), true);
        assert_eq!(
            targets_of(&links, "/a/x", false, Follow::Through),
            (vec!["/a/x".into(), "/b/x".into()], false)
        );
        links.add("/c", Some("/c/c".into()), true);
        assert!(targets_of(&links, "/c/x", false, Follow::Through).1);
        links.add_anywhere();
        assert!(targets_of(&links, "/q", false, Follow::Through).1);
    }
}
