//! Programs that put files into other places, and what later paths mean behind them.

use super::{found_below, last_name, parent};
use crate::shell::links::Follow;
use crate::shell::options::Words;
use crate::shell::walk::Walker;
use crate::shell::word::Value;
use serde::Deserialize;

/// What a copy has to do with what it was made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::shell) enum Kind {
    /// Files of their own.
    Files,
    /// Directories, with the links that stand in them.
    Trees,
    /// The thing itself, under another name.
    Same,
    /// A link, relative to where it stands.
    Link,
    /// A link, relative to the working directory.
    LinkFromHere,
}

/// Where copies go.
struct Copies<'a> {
    by: &'a str,
    kind: Kind,
    sources: Vec<&'a Value>,
    /// A directory or, unless `inside`, a name.
    to: Value,
    inside: bool,
    /// A link to a directory that stands there goes, and nothing is put into the directory.
    replaces: bool,
}

pub(super) fn run(walker: &Walker, by: &str, kind: Kind, found: &Words<'_>) {
    if let Some(copies) = told(by, kind, found) {
        if found.has(&["-b", "--backup", "-S", "--suffix"]) {
            copies.keep(walker);
        }
        copies.write(walker);
    }
}

/// What the words say.
fn told<'a>(name: &'a str, kind: Kind, found: &Words<'a>) -> Option<Copies<'a>> {
    let dirs = found.values(&["-t", "--target-directory"]);
    let (to, sources, inside) = match (dirs.first(), found.operands.as_slice()) {
        (Some(dir), sources) => (dir.clone(), sources, true),
        (None, []) => return None,
        (None, [only]) if name == "ln" => {
            let name = only.plain().map_or(".", last_name);
            let to = Value::Plain(name.to_owned());
            (to, found.operands.as_slice(), name == ".")
        }
        (None, [sources @ .., last]) => {
            let is_dir = |path: &str| path.ends_with('/') || matches!(last_name(path), "." | "..");
            // An expansion may come to nothing.
            let is_there = |source: &&&Value| matches!(source, Value::Plain(_) | Value::Below(_));
            let several = sources.iter().filter(is_there).count() > 1;
            let inside = several || last.plain().is_some_and(is_dir);
            ((*last).clone(), sources, inside)
        }
    };
    Some(Copies {
        by: name,
        kind,
        sources: sources.to_vec(),
        to,
        inside,
        replaces: name != "cp"
            && (found.sure(&["-T", "--no-target-directory"])
                || (name == "ln" && found.sure(&["-n", "--no-dereference"]))),
    })
}

impl Copies<'_> {
    fn write(&self, walker: &Walker) {
        // A thing with two names is written under both, and one that is moved goes away.
        if self.kind == Kind::Same {
            for source in &self.sources {
                walker.reach(source, Follow::Entry, self.by);
            }
        }
        match self.kind {
            Kind::Files | Kind::Trees => walker.reach(&self.to, Follow::Deep, self.by),
            _ if self.replaces || self.is_there(walker) => {
                walker.reach(&self.to, Follow::Entry, self.by);
            }
            _ => walker.target(&self.to, self.by),
        }
        if self.kind != Kind::Files {
            for source in &self.sources {
                self.lead(walker, source);
            }
        }
    }

    /// What was there before is kept beside it, under a name that begins as its own.
    fn keep(&self, walker: &Walker) {
        let dir = match &self.to {
            Value::Plain(to) if !self.inside => Value::Below(parent(to).to_owned()),
            to => found_below(to),
        };
        walker.target(&dir, self.by);
    }

    /// Whether it is this very link that stands there, seen for a second time.
    fn is_there(&self, walker: &Walker) -> bool {
        let (Value::Plain(to), [source], false) = (&self.to, self.sources.as_slice(), self.inside)
        else {
            return false;
        };
        let leads = source.plain().and_then(|source| self.leads_to(source, to));
        leads.is_some_and(|leads| walker.is_led(to, &leads))
    }

    /// Where a copy of this source leads that stands at `at`.
    fn leads_to(&self, source: &str, at: &str) -> Option<String> {
        match self.kind {
            Kind::Files | Kind::Trees => None,
            Kind::Link if !source.starts_with('/') => Some(format!("{}/{source}", parent(at))),
            Kind::Same | Kind::LinkFromHere | Kind::Link => Some(source.to_owned()),
        }
    }

    /// What paths through the places of a copy mean from now on.
    fn lead(&self, walker: &Walker, source: &Value) {
        let Value::Plain(to) = &self.to else {
            // Only the directory of a pattern or nothing is known of it.
            let dir = match &self.to {
                Value::Below(dir) => Some(dir.as_str()),
                _ => None,
            };
            return walker.leads(dir, None, false);
        };
        let Some(source) = source.plain() else {
            walker.leads(Some(to), None, false);
            if !self.inside {
                walker.leads(Some(to), None, true);
            }
            return;
        };
        let name = last_name(source);
        if matches!(name, "" | "." | "..") {
            // Of a directory, what lies in it goes there one by one.
            let leads = self.leads_to(source, to);
            return walker.leads(Some(to), leads.as_deref(), leads.is_some());
        }
        let within = format!("{to}/{name}");
        for at in [(!self.inside).then_some(to.as_str()), Some(&within)] {
            let Some(at) = at else { continue };
            walker.leads(Some(at), self.leads_to(source, at).as_deref(), true);
        }
    }
}
