//! Programs that put files into other places, and what later paths mean behind them.

use super::*;

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

pub(super) struct Copies<'a> {
    by: &'a str,
    kind: Kind,
    sources: &'a [&'a Value],
    /// A directory or, unless `inside`, a name.
    to: Value,
    inside: bool,
}

impl<'a> Copies<'a> {
    /// Copies of the operands, into a directory or to the last of them. `ln` puts a single one here.
    pub fn of(
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
                // An expansion may come to nothing.
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

    /// Writes them: `over` a link to a directory that stands there, or else into that directory.
    pub fn write(&self, walker: &Walker, over: bool) {
        // A thing with two names is written under both, and one that is moved goes away.
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
                self.lead(walker, source);
            }
        }
    }

    /// What was there before is kept beside it, under a name that begins as its own.
    pub fn keep(&self, walker: &Walker) {
        let dir = match &self.to {
            Value::Plain(to) if !self.inside => Value::Below(parent(to).to_owned()),
            to => found_below(to),
        };
        walker.target(&dir, self.by);
    }

    /// Whether it is this very link that stands there, seen for a second time.
    fn is_there(&self, walker: &Walker) -> bool {
        let (Value::Plain(to), [source], false) = (&self.to, self.sources, self.inside) else {
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
