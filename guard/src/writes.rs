//! What would be written, and what cannot be told.

use std::collections::BTreeSet;

/// Something that would be written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// The path: absolute, without `.` and `//`. A `..` stays where it is.
    pub path: String,
    /// Whether anything below it may be written, not it alone.
    pub below: bool,
    /// What writes it, as people say it: `>`, `rm`, `git checkout`.
    pub by: String,
}

/// What a tool call would write.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Writes {
    targets: BTreeSet<Target>,
    doubts: BTreeSet<String>,
}

impl Writes {
    /// What would be written, sorted by path.
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        self.targets.iter()
    }
    /// The paths of [`Writes::targets`].
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.targets.iter().map(|target| target.path.as_str())
    }
    /// Why something may be written where nobody can say, each reason for people.
    pub fn doubts(&self) -> &BTreeSet<String> {
        &self.doubts
    }
    /// Whether it writes nothing, as far as this crate can see, and it can see all of it.
    pub fn is_nothing(&self) -> bool {
        self.targets.is_empty() && self.doubts.is_empty()
    }
    pub(crate) fn write(&mut self, path: String, below: bool, by: &str) {
        if !is_sink(&path) {
            self.targets.insert(Target {
                path,
                below,
                by: by.to_owned(),
            });
        }
    }
    pub(crate) fn doubt(&mut self, why: impl Into<String>) {
        self.doubts.insert(why.into());
    }
}

/// Devices that keep nothing.
fn is_sink(path: &str) -> bool {
    ["/dev/null", "/dev/tty", "/dev/zero", "/dev/full"].contains(&path)
}
