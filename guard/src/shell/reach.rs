//! Resolves a written path to all paths that it may reach through the command's own links.

use super::descriptors::descriptor;
use super::*;

impl Walker {
    pub fn target(&self, value: &Value, by: &str) {
        self.reach(value, Follow::Through, by);
    }

    /// Notes that `by` may write everything below a directory.
    pub fn target_below(&self, path: &str, by: &str) {
        self.target(&Value::Below(path.to_owned()), by);
    }

    /// Notes that `by` writes a path, and the places to which the command's links redirect it.
    pub fn reach(&self, value: &Value, follow: Follow, by: &str) {
        let (path, below) = match value {
            Value::Plain(path) => (path, false),
            Value::Below(path) => (path, true),
            _ => {
                return self.doubt(format!("the path that {by} writes depends on an expansion"));
            }
        };
        // A trailing slash names the directory that a link leads to.
        let follow = match path.ends_with('/') || path.ends_with("/.") {
            true if follow != Follow::Deep => Follow::Through,
            _ => follow,
        };
        let Some(path) = self.place.resolve(path) else {
            return self.doubt(format!(
                "{by} writes {path}, in a directory that depends on earlier commands"
            ));
        };
        let led = self.history().links.follow(&path, below, follow);
        if led.lost {
            self.doubt(format!(
                "{by} writes {path}, where this command may have created a link"
            ));
        }
        for path in led.paths {
            match descriptor(&path).filter(|_| !below) {
                None => self.writes.borrow_mut().write(path, below, by),
                Some(open) if self.history().may_reopen(open) => {}
                Some(_) => self.doubt(format!("{by} writes {path}, which may be any open file")),
            }
        }
    }

    /// Notes that `at` leads to `leads`; with `itself` false, only entries below `at` do. `None` means an unknown path.
    pub fn add_link(&self, at: Option<&str>, leads: Option<&str>, itself: bool) {
        let leads = leads.and_then(|leads| self.place.resolve(leads));
        let at = at.and_then(|at| self.place.resolve(at));
        let links = &mut self.remember().links;
        match at {
            Some(at) => links.add(&at, leads, itself),
            None => links.add_anywhere(),
        }
    }

    /// Returns true if the link from `at` to `leads` is known already.
    pub fn is_known_link(&self, at: &str, leads: &str) -> bool {
        match (self.place.resolve(at), self.place.resolve(leads)) {
            (Some(at), Some(leads)) => self.history().links.knows(&at, &leads),
            _ => false,
        }
    }
}
