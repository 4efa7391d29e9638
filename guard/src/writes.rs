//! The writes of a tool call: targets, and parts whose writes are unknown.

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

/// A part of a tool call whose writes are unknown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unknown {
    /// Reason, for messages.
    pub why: String,
    /// The entry of `guard.known` that would make the writes known, if there is such an entry.
    pub entry: Option<String>,
    /// True if the part is a teamlog command. Such a command can also change the permissions of agents.
    pub own: bool,
}

impl<T: Into<String>> From<T> for Unknown {
    fn from(why: T) -> Unknown {
        Unknown {
            why: why.into(),
            entry: None,
            own: false,
        }
    }
}

impl Unknown {
    /// Makes the part for a program or tool that neither the table nor the team knows.
    pub(crate) fn for_program(entry: String) -> Unknown {
        Unknown {
            why: format!("cannot tell which files '{entry}' writes"),
            entry: Some(entry),
            own: false,
        }
    }

    /// Makes the part for a teamlog command.
    pub(crate) fn for_teamlog(why: impl Into<String>) -> Unknown {
        Unknown {
            own: true,
            ..Unknown::from(why)
        }
    }
}

/// The writes of a tool call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Writes {
    targets: BTreeSet<Target>,
    unknown: BTreeSet<Unknown>,
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
    /// Returns the parts whose writes are unknown.
    pub fn unknown(&self) -> &BTreeSet<Unknown> {
        &self.unknown
    }
    /// Returns true if there are neither targets nor unknown writes.
    pub fn is_nothing(&self) -> bool {
        self.targets.is_empty() && self.unknown.is_empty()
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
    pub(crate) fn add_unknown(&mut self, unknown: impl Into<Unknown>) {
        self.unknown.insert(unknown.into());
    }
}

/// Returns true for devices that discard all data.
fn is_sink(path: &str) -> bool {
    ["/dev/null", "/dev/tty", "/dev/zero", "/dev/full"].contains(&path)
}
