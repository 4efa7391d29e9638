//! Programs that copy, move or link files, and their effect on later paths.

use super::*;

/// The relation of a copy to its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::shell) enum Kind {
    /// The copy is independent of the source.
    Files,
    /// The copy is a directory with the links inside of the source.
    Trees,
    /// The copy is the source under another name.
    Same,
    /// The copy is a symlink relative to its own directory.
    Link,
    /// The copy is a symlink relative to the working directory.
    LinkFromHere,
}

pub(super) struct Copies<'a> {
    by: &'a str,
    kind: Kind,
    sources: &'a [&'a Value],
    /// Destination: a directory if `inside` is true, else the name of the copy.
    to: Value,
    inside: bool,
}

impl<'a> Copies<'a> {
    /// Returns the copies of the operands. The copies go into the directory `into`, or else to the last operand. With
    /// a single operand, `ln` puts the link into the working directory.
    pub fn new(
        by: &'a str,
        kind: Kind,
        operands: &'a [&'a Value],
        into: Option<&Value>,
    ) -> Option<Copies<'a>> {
        let (to, sources, inside) = match (into, operands) {
            (Some(dir), sources) => (dir.clone(), sources, true),
            (None, []) => return None,
            (None, [only]) if by == "ln" => {
                let name = only.plain().map_or(".", last_name);
                (Value::Plain(name.to_owned()), operands, name == ".")
            }
            (None, [sources @ .., last]) => {
                let is_dir =
                    |path: &str| path.ends_with('/') || matches!(last_name(path), "." | "..");
                // Count only words that are certainly operands, because an expansion may be empty.
                let is_there =
                    |source: &&&Value| matches!(source, Value::Plain(_) | Value::Below(_));
                let several = sources.iter().filter(is_there).count() > 1;
                let inside = several || last.plain().is_some_and(is_dir);
                ((*last).clone(), sources, inside)
            }
        };
        Some(Copies {
            by,
            kind,
            sources,
            to,
            inside,
        })
    }

    /// Records the copies as writes. If the destination is a link to a directory, a copy replaces the link if `over`
    /// is true, and is put into that directory otherwise.
    pub fn write(&self, walker: &Walker, over: bool) {
        // Writing to either name changes the file, and a move removes the old name.
        if self.kind == Kind::Same {
            for source in self.sources {
                walker.reach(source, Follow::Entry, self.by);
            }
        }
        let follow = match self.kind {
            Kind::Files | Kind::Trees => Follow::Deep,
            _ if over || self.is_there(walker) => Follow::Entry,
            _ => Follow::Through,
        };
        walker.reach(&self.to, follow, self.by);
        if self.kind != Kind::Files {
            for source in self.sources {
                self.add_links(walker, source);
            }
        }
    }

    /// Records that a program keeps each replaced file beside its copy, under a name that begins with the name of the
    /// file.
    pub fn keep(&self, walker: &Walker) {
        let dir = match &self.to {
            Value::Plain(to) if !self.inside => Value::Below(parent(to).to_owned()),
            to => found_below(to),
        };
        walker.target(&dir, self.by);
    }

    /// Returns true if an earlier walk through the command already recorded this link.
    fn is_there(&self, walker: &Walker) -> bool {
        let (Value::Plain(to), [source], false) = (&self.to, self.sources, self.inside) else {
            return false;
        };
        let target = source
            .plain()
            .and_then(|source| self.link_target(source, to));
        target.is_some_and(|target| walker.is_known_link(to, &target))
    }

    /// Returns the target of a link that copies `source` to the path `at`, or `None` if the copy is independent.
    fn link_target(&self, source: &str, at: &str) -> Option<String> {
        match self.kind {
            Kind::Files | Kind::Trees => None,
            Kind::Link if !source.starts_with('/') => Some(format!("{}/{source}", parent(at))),
            Kind::Same | Kind::LinkFromHere | Kind::Link => Some(source.to_owned()),
        }
    }

    /// Records that paths through a copy lead to its source.
    fn add_links(&self, walker: &Walker, source: &Value) {
        let Value::Plain(to) = &self.to else {
            // The name of the copy is unknown. The directory may be known.
            let dir = match &self.to {
                Value::Below(dir) => Some(dir.as_str()),
                _ => None,
            };
            return walker.add_link(dir, None, false);
        };
        let Some(source) = source.plain() else {
            walker.add_link(Some(to), None, false);
            if !self.inside {
                walker.add_link(Some(to), None, true);
            }
            return;
        };
        let name = last_name(source);
        if matches!(name, "" | "." | "..") {
            // For `SOURCE/.`, the entries of the directory are copied one by one.
            let target = self.link_target(source, to);
            return walker.add_link(Some(to), target.as_deref(), target.is_some());
        }
        let within = format!("{to}/{name}");
        for at in [(!self.inside).then_some(to.as_str()), Some(&within)] {
            let Some(at) = at else { continue };
            walker.add_link(Some(at), self.link_target(source, at).as_deref(), true);
        }
    }
}
