//! The fields of an event that a source reads, so that only these are built.
//!
//! The scan is textual and errs on the safe side. A script has no `eval`, so `event` is reached only where the source has this word.
//! If every occurrence continues with `.FIELD`, the script reads these fields only; any other occurrence, such as `helper(event)`,
//! reads everything.

use crate::field::Field;
use std::collections::BTreeSet;

/// Fields that a source reads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Reads {
    fields: BTreeSet<Field>,
    /// Members of the payload that the source reads; `None` for the whole payload.
    members: Option<BTreeSet<String>>,
}

impl Reads {
    /// Returns the fields that a source reads.
    pub fn of_source(source: &str) -> Reads {
        let mut reads = Reads {
            fields: BTreeSet::new(),
            members: Some(BTreeSet::new()),
        };
        let mut rest = source;
        let mut before = None;
        while let Some((head, tail)) = rest.split_once("event") {
            let last = head.chars().next_back().or(before);
            before = Some('t');
            rest = tail;
            if last.is_some_and(is_word) || tail.starts_with(is_word) {
                continue;
            }
            if is_header(head, tail) {
                continue;
            }
            reads.add_use(tail);
        }
        reads
    }

    /// Adds the fields of another source.
    pub fn and(mut self, other: Reads) -> Reads {
        self.fields.extend(other.fields);
        self.members = match (self.members, other.members) {
            (Some(mut own), Some(more)) => {
                own.extend(more);
                Some(own)
            }
            _ => None,
        };
        self
    }

    /// Returns true if the source reads a field.
    pub fn has(&self, field: Field) -> bool {
        self.fields.contains(&field)
    }

    /// Returns true if the source reads a member of the payload.
    pub fn has_member(&self, name: &str) -> bool {
        self.members
            .as_ref()
            .is_none_or(|members| members.contains(name))
    }

    /// Adds the field that is read after the word `event`.
    fn add_use(&mut self, tail: &str) {
        let field = property(tail).and_then(|(name, rest)| Some((Field::from_name(name)?, rest)));
        let Some((field, rest)) = field else {
            self.fields.extend(Field::ALL);
            self.members = None;
            return;
        };
        self.fields.insert(field);
        if field != Field::Payload {
            return;
        }
        match property(rest) {
            Some((member, _)) => {
                if let Some(members) = &mut self.members {
                    members.insert(member.to_owned());
                }
            }
            None => self.members = None,
        }
    }
}

/// Returns the name in `.NAME`, and the text after it. Returns `None` for a call of a method.
fn property(text: &str) -> Option<(&str, &str)> {
    let name = text.strip_prefix("?.").or_else(|| text.strip_prefix('.'))?;
    let end = name.find(|c| !is_word(c)).unwrap_or(name.len());
    let (name, rest) = name.split_at_checked(end)?;
    let is_call = rest.trim_start().starts_with(['(', '!']) || rest.starts_with(['/', ':']);
    (!name.is_empty() && !is_call).then_some((name, rest))
}

/// Returns true for the parameter in `fn fold(event)`.
fn is_header(head: &str, tail: &str) -> bool {
    head.trim_end()
        .strip_suffix('(')
        .is_some_and(|head| head.ends_with("fn fold"))
        && tail.trim_start().starts_with(')')
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(source: &str) -> (Vec<Field>, Option<Vec<String>>) {
        let Reads { fields, members } = Reads::of_source(source);
        (
            fields.into_iter().collect(),
            members.map(|members| members.into_iter().collect()),
        )
    }

    #[test]
    fn fields_and_members_are_found() {
        let source = "fn fold(event) { if event.kind == \"a\" { this.events += event.payload.n; x(event?.task) } }";
        let fields = vec![Field::Kind, Field::Task, Field::Payload];
        assert_eq!(reads(source), (fields, Some(vec!["n".to_owned()])));
        assert_eq!(reads("fn fold(event) { }"), (vec![], Some(vec![])));
        let (fields, members) = reads("event.payload[\"n\"]");
        assert_eq!((fields, members), (vec![Field::Payload], None));
    }

    #[test]
    fn every_other_use_reads_everything() {
        for source in [
            "f(event)",
            "event[\"kind\"]",
            "event . kind",
            "event.keys()",
            "event.kind()",
            "event.other",
            "event.payload.keys ()",
            "let event = 1;",
            "`${event}`",
            "fn other(event) {}",
            "event./* x */kind",
            "event",
            "\"event\"",
        ] {
            let (fields, members) = reads(source);
            let all = fields.len() == Field::ALL.len() || source.contains("payload");
            assert!(all && members.is_none(), "{source}: {fields:?}");
        }
    }
}
