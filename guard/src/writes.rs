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

/// A part of a tool call whose writes cannot be told.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Doubt {
    /// The reason, for people.
    pub why: String,
    /// The program or tool, as `guard.known` would name it, if trusting it could settle the doubt.
    pub entry: Option<String>,
    /// True for a command of teamlog: besides files, these change what agents may do.
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
    /// A program or tool that neither the table nor the team knows.
    pub(crate) fn unknown(entry: String) -> Doubt {
        Doubt {
            why: format!("cannot tell which files '{entry}' writes"),
            entry: Some(entry),
            own: false,
        }
    }

    /// A command of our own.
    pub(crate) fn own(why: impl Into<String>) -> Doubt {
        Doubt {
            own: true,
            ..Doubt::from(why)
        }
    }
}

/// What a tool call would write.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Writes {
    targets: BTreeSet<Target>,
    doubts: BTreeSet<Doubt>,
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
    /// The parts whose writes cannot be told.
    pub fn doubts(&self) -> &BTreeSet<Doubt> {
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
    pub(crate) fn doubt(&mut self, doubt: impl Into<Doubt>) {
        self.doubts.insert(doubt.into());
    }
}

/// Devices that keep nothing.
fn is_sink(path: &str) -> bool {
    ["/dev/null", "/dev/tty", "/dev/zero", "/dev/full"].contains(&path)
}
