//! Symlinks that a command creates, and directories that it moves or copies. They redirect paths that the command writes
//! later.
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
    leads: Option<String>,
    /// True if the path itself leads to the target. False if only entries below the path do.
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
    /// True if the path may also lead to unknown paths.
    pub lost: bool,
}

impl Links {
    pub fn len(&self) -> usize {
        self.made.len() + usize::from(self.anywhere)
    }

    /// Adds a link at the path `at`. If `itself` is false, only entries below `at` lead to the target.
    pub fn add(&mut self, at: &str, leads: Option<String>, itself: bool) {
        if leads
            .as_deref()
            .is_some_and(|leads| tidy(leads) == tidy(at))
        {
            return;
        }
        for at in self.follow(at, false, Follow::Entry).paths {
            let link = Link {
                at: tidy(&at),
                leads: leads.clone(),
                itself,
            };
            if !self.made.contains(&link) {
                self.made.push(link);
            }
        }
    }

    /// Returns true if the command created a link from `at` to `leads`.
    pub fn knows(&self, at: &str, leads: &str) -> bool {
        let at = tidy(at);
        self.made
            .iter()
            .any(|link| link.at == at && link.leads.as_deref() == Some(leads))
    }

    pub fn add_anywhere(&mut self) {
        self.anywhere = true;
    }

    /// Returns all paths to which links may redirect a path. The path itself is included.
    pub fn follow(&self, path: &str, below: bool, follow: Follow) -> LinkTargets {
        let mut led = LinkTargets {
            paths: vec![path.to_owned()],
            lost: self.anywhere,
        };
        let mut at = 0;
        while let Some(path) = led.paths.get(at).cloned() {
            at += 1;
            for link in &self.made {
                for path in [&path, &tidy(&path)] {
                    match link.apply(path, below, follow) {
                        None => {}
                        Some(None) => led.lost = true,
                        Some(Some(_)) if led.paths.len() >= PLACES_MAX => led.lost = true,
                        Some(Some(path)) if led.paths.contains(&path) => {}
                        Some(Some(path)) => led.paths.push(path),
                    }
                }
            }
        }
        led
    }
}

impl Link {
    /// Follows this link in a path. Returns the resulting path, or `None` if the path does not go through this link.
    fn apply(&self, path: &str, below: bool, follow: Follow) -> Option<Option<String>> {
        let through = |rest: &str| {
            let leads = self.leads.as_deref()?;
            Some(match rest {
                "" => leads.to_owned(),
                rest => format!("{}{rest}", leads.trim_end_matches('/')),
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

    fn led(links: &Links, path: &str, below: bool, follow: Follow) -> (Vec<String>, bool) {
        let led = links.follow(path, below, follow);
        (led.paths, led.lost)
    }

    #[test]
    fn paths_lead_through_links_on_their_way() {
        let mut links = Links::default();
        links.add("/r/y", Some("/x".into()), true);
        links.add("/r/z/", Some("/r/y".into()), true);
        links.add("/r/copy", None, false);
        for (path, expected, lost) in [
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
                led(&links, path, false, Follow::Through),
                (expected, lost),
                "{path}"
            );
        }
        let entry = |path: &str| led(&links, path, false, Follow::Entry).0.len();
        assert_eq!((entry("/r/y"), entry("/r/y/a")), (1, 2));
        let below = |follow| led(&links, "/r", true, follow);
        assert_eq!(
            below(Follow::Through),
            (vec!["/r".into(), "/x".into(), "/r/y".into()], true)
        );
        assert_eq!(below(Follow::Tree), (vec!["/r".into()], false));
        let here = |follow| led(&links, "/r", false, follow).0.len();
        assert_eq!((here(Follow::Through), here(Follow::Deep)), (1, 3));
    }

    #[test]
    fn links_in_a_circle_end_in_doubt_or_where_they_began() {
        let mut links = Links::default();
        links.add("/a", Some("/b".into()), true);
        links.add("/b", Some("/a".into()), true);
        assert_eq!(
            led(&links, "/a/x", false, Follow::Through),
            (vec!["/a/x".into(), "/b/x".into()], false)
        );
        links.add("/c", Some("/c/c".into()), true);
        assert!(led(&links, "/c/x", false, Follow::Through).1);
        links.add_anywhere();
        assert!(led(&links, "/q", false, Follow::Through).1);
    }
}
