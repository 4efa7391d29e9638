//! Finds all paths that a write may reach through links that the command created.

use super::descriptors::descriptor;
use super::*;

impl Walker {
    pub fn target(&self, value: &Value, by: &str) {
        self.reach(value, Follow::Through, by);
    }

    /// Records that the program `by` may write everything below a directory.
    pub fn target_below(&self, path: &str, by: &str) {
        self.target(&Value::Below(path.to_owned()), by);
    }

    /// Records that the program `by` writes a path, and also the paths to which links of the command redirect this
    /// path.
    pub fn reach(&self, value: &Value, follow: Follow, by: &str) {
        let (path, below) = match value {
            Value::Plain(path) => (path, false),
            Value::Below(path) => (path, true),
            _ => {
                return self
                    .add_unknown(format!("the path that {by} writes depends on an expansion"));
            }
        };
        // With a trailing slash, the path is the directory to which the link leads.
        let follow = match path.ends_with('/') || path.ends_with("/.") {
            true if follow != Follow::Deep => Follow::Through,
            _ => follow,
        };
        let Some(path) = self.place.resolve(path) else {
            return self.add_unknown(format!(
                "{by} writes {path}, in a directory that depends on earlier commands"
            ));
        };
        let targets = self.history().links.follow(&path, below, follow);
        if targets.unknown {
            self.add_unknown(format!(
                "{by} writes {path}, where this command may have created a link"
            ));
        }
        for path in targets.paths {
            match descriptor(&path).filter(|_| !below) {
                None => self.writes.borrow_mut().write(path, below, by),
                Some(open) if self.history().may_reopen(open) => {}
                Some(_) => {
                    self.add_unknown(format!("{by} writes {path}, which may be any open file"))
                }
            }
        }
    }

    /// Records a link from `at` to `target`. If `itself` is false, only entries below `at` lead to the target. `None` is an unknown
    /// path.
    pub fn add_link(&self, at: Option<&str>, target: Option<&str>, itself: bool) {
        let target = target.and_then(|target| self.place.resolve(target));
        let at = at.and_then(|at| self.place.resolve(at));
        let links = &mut self.remember().links;
        match at {
            Some(at) => links.add(&at, target, itself),
            None => links.add_anywhere(),
        }
    }

    /// Returns true if the link from `at` to `target` is already recorded.
    pub fn is_known_link(&self, at: &str, target: &str) -> bool {
        match (self.place.resolve(at), self.place.resolve(target)) {
            (Some(at), Some(target)) => self.history().links.contains(&at, &target),
            _ => false,
        }
    }
}
