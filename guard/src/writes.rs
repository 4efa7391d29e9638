//! The writes of a tool call: targets, and doubts about unknown writes.

use std::collections::BTreeSet;

/// A path that would be written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// The path: absolute, without `.` and `//`. It may contain `..`.
    pub path: String,
    /// True if everything below the path may be written too.
    pub below: bool,
    /// The program or operator that writes, for messages: `>`, `rm`, `git checkout`.
    pub by: String,
}

/// A doubt: a part of a tool call whose writes are unknown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Doubt {
    /// Reason, for messages.
    pub why: String,
    /// The entry of `guard.known` that would settle the doubt, if an entry can settle it.
    pub entry: Option<String>,
    /// True if a teamlog command causes the doubt. Such a command can also change the permissions of agents.
    pub own: bool,
}

impl<T: Into<String>> From<T> for Doubt {
    fn from(why: T) -> Doubt {
        Doubt {
            why: why.into(),
            entry: None,
            own: false,
        }
    }
}

impl Doubt {
    /// Makes the doubt about a program or tool that neither the table nor the team knows.
    pub(crate) fn unknown(entry: String) -> Doubt {
        Doubt {
            why: format!("cannot tell which files '{entry}' writes"),
            entry: Some(entry),
            own: false,
        }
    }

    /// Makes the doubt about a teamlog command.
    pub(crate) fn own(why: impl Into<String>) -> Doubt {
        Doubt {
            own: true,
            ..Doubt::from(why)
        }
    }
}

/// The writes of a tool call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Writes {
    targets: BTreeSet<Target>,
    doubts: BTreeSet<Doubt>,
}

impl Writes {
    /// Returns the targets, sorted by path.
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        self.targets.iter()
    }
    /// Returns the paths of [`Writes::targets`].
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.targets.iter().map(|target| target.path.as_str())
    }
    /// Returns the doubts.
    pub fn doubts(&self) -> &BTreeSet<Doubt> {
        &self.doubts
    }
    /// Returns true if there are neither targets nor doubts.
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
    pub(crate) fn doubt(&mut self, doubt: impl Into<Doubt>) {
        self.doubts.insert(doubt.into());
    }
}

/// Returns true for devices that discard all data.
fn is_sink(path: &str) -> bool {
    ["/dev/null", "/dev/tty", "/dev/zero", "/dev/full"].contains(&path)
}
