//! From what a program says that it writes to the paths that this reaches.

use super::descriptors::descriptor;
use super::*;

impl Walker {
    pub fn target(&self, value: &Value, by: &str) {
        self.reach(value, Follow::Through, by);
    }

    /// Everything below a directory may be written by `by`.
    pub fn target_below(&self, path: &str, by: &str) {
        self.target(&Value::Below(path.to_owned()), by);
    }

    /// Something that `by` writes, with the links on the way followed so far.
    pub fn reach(&self, value: &Value, follow: Follow, by: &str) {
        let (path, below) = match value {
            Value::Plain(path) => (path, false),
            Value::Below(path) => (path, true),
            _ => {
                return self.doubt(format!("what {by} writes depends on an expansion"));
            }
        };
        // A slash at the end asks for the directory that a link leads to.
        let follow = match path.ends_with('/') || path.ends_with("/.") {
            true if follow != Follow::Deep => Follow::Through,
            _ => follow,
        };
        let Some(path) = self.place.resolve(path) else {
            return self.doubt(format!(
                "{by} writes {path}, in a directory that depends on what runs before"
            ));
        };
        let led = self.history().links.follow(&path, below, follow);
        if led.lost {
            self.doubt(format!(
                "{by} writes {path}, where this command may have put a link before"
            ));
        }
        for path in led.paths {
            match descriptor(&path).filter(|_| !below) {
                None => self.writes.borrow_mut().write(path, below, by),
                Some(open) if self.history().may_reopen(open) => {}
                Some(_) => self.doubt(format!(
                    "{by} writes {path}, and which file that is is not known"
                )),
            }
        }
    }

    /// What is put at `at` leads to `leads`, by itself or only below it; either may be what nobody can say.
    pub fn leads(&self, at: Option<&str>, leads: Option<&str>, itself: bool) {
        let leads = leads.and_then(|leads| self.place.resolve(leads));
        let at = at.and_then(|at| self.place.resolve(at));
        let links = &mut self.remember().links;
        match at {
            Some(at) => links.add(&at, leads, itself),
            None => links.add_anywhere(),
        }
    }

    /// Whether this is known already.
    pub fn is_led(&self, at: &str, leads: &str) -> bool {
        match (self.place.resolve(at), self.place.resolve(leads)) {
            (Some(at), Some(leads)) => self.history().links.knows(&at, &leads),
            _ => false,
        }
    }
}
