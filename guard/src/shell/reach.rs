//! From what a program says that it writes to the paths that this reaches.

use super::links::Follow;
use super::walk::Walker;
use super::word::Value;
use crate::writes::Writes;

impl Walker {
    /// Something that `by` writes.
    pub fn target(&self, value: &Value, by: &str, writes: &mut Writes) {
        self.reach(value, Follow::Through, by, writes);
    }

    /// Something that `by` removes or replaces, which leaves alone what a link of that name leads to.
    pub fn entry(&self, value: &Value, by: &str, writes: &mut Writes) {
        self.reach(value, Follow::Entry, by, writes);
    }

    /// A place that `by` puts files or whole directories into, over what is there.
    pub fn overlay(&self, value: &Value, by: &str, writes: &mut Writes) {
        self.reach(value, Follow::Deep, by, writes);
    }

    /// Everything below a directory may be written by `by`.
    pub fn target_below(&self, path: &str, by: &str, writes: &mut Writes) {
        self.target(&Value::Below(path.to_owned()), by, writes);
    }

    /// The same, by something that follows no links on its way down.
    pub fn tree(&self, value: &Value, by: &str, writes: &mut Writes) {
        self.reach(value, Follow::Tree, by, writes);
    }

    fn reach(&self, value: &Value, follow: Follow, by: &str, writes: &mut Writes) {
        let (path, below) = match value {
            Value::Plain(path) => (path, false),
            Value::Below(path) => (path, true),
            Value::Begins(_) | Value::Word | Value::One | Value::Unknown => {
                return writes.doubt(format!("what {by} writes depends on an expansion"));
            }
        };
        // A slash at the end asks for the directory that a link leads to.
        let follow = match path.ends_with('/') || path.ends_with("/.") {
            true if follow != Follow::Deep => Follow::Through,
            _ => follow,
        };
        let Some(path) = self.place.resolve(path) else {
            return writes.doubt(format!(
                "{by} writes {path}, in a directory that depends on what runs before"
            ));
        };
        let led = self.history().links.follow(&path, below, follow);
        if led.lost {
            writes.doubt(format!(
                "{by} writes {path}, where this command may have put a link before"
            ));
        }
        for path in led.paths {
            writes.write(path, below, by);
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
