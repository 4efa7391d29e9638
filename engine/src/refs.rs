//! Refs: the things that an event points at, under names that the creator of a log declares.
//!
//! A log has at most [`REFS_MAX`] declared refs. Every log also has the idempotency key ([`Ref::KEY`]) and the cause. `log.json`
//! holds the names; events refer to the names by their place.

use crate::error::{Error, Result};
use crate::event_id::EventId;
use crate::identifier::is_kind;
use std::borrow::Cow;
use std::sync::Arc;

/// Largest number of refs that a log can declare.
pub const REFS_MAX: usize = 6;
/// Largest length of a ref's name, in bytes.
pub const REF_NAME_BYTES_MAX: usize = 64;
/// Number of places for refs: the declared refs, then the key.
const PLACES: usize = REFS_MAX + 1;

/// The names of the refs in a log whose `log.json` declares no refs, as in all logs of format version 1 and 2.
const UNDECLARED: [&str; REFS_MAX] = [
    "trace_id",
    "task_id",
    "agent",
    "message_id",
    "thread_id",
    "session_id",
];
/// Start of each field in a line of `jsonl`.
const UNDECLARED_OPENINGS: [&str; REFS_MAX] = [
    ",\"trace_id\":\"",
    ",\"task_id\":\"",
    ",\"agent\":\"",
    ",\"message_id\":\"",
    ",\"thread_id\":\"",
    ",\"session_id\":\"",
];
/// Fields of a line that are not refs. No ref may have their names.
const OTHER_FIELDS: [&str; 12] = [
    "seq",
    "id",
    "created_at",
    "kind",
    "actor",
    "cause",
    "key",
    "schema_version",
    "foreign",
    "payload",
    "group",
    "crc",
];

/// A ref of a log, by its place among the declared names.
///
/// ```
/// use teamlog_engine::{Ref, RefNames};
///
/// const ORDER: Ref = Ref::new(0);
/// let names = RefNames::new(["order_id", "customer"])?;
/// assert_eq!(names.find("order_id"), Some(ORDER));
/// assert_eq!(names.find("key"), Some(Ref::KEY));
/// # Ok::<(), teamlog_engine::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ref(u8);

impl Ref {
    /// The idempotency key of the command that caused the event. Every log has this ref.
    pub const KEY: Ref = Ref(REFS_MAX as u8);
    /// All refs that an event can have, in stored order, the key last.
    pub const ALL: [Ref; PLACES] = [Ref(0), Ref(1), Ref(2), Ref(3), Ref(4), Ref(5), Ref::KEY];

    /// Creates the ref whose name is declared at `place`, counted from 0.
    ///
    /// # Panics
    /// If `place` is not below [`REFS_MAX`]; in a constant, the compiler checks `place`.
    pub const fn new(place: u8) -> Ref {
        assert!(
            (place as usize) < REFS_MAX,
            "a log has at most REFS_MAX refs"
        );
        Ref(place)
    }

    /// Returns the place of the ref in the stored order.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The names of a log's refs, in the order in which events store them. Cheap to clone.
///
/// The default value has the names of a log that declares no refs: the names of teamlog's own logs.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct RefNames(Option<Arc<[Declared]>>);

#[derive(PartialEq, Eq)]
struct Declared {
    name: String,
    /// Start of the field in a line of `jsonl`.
    opening: String,
}

pub(crate) static UNDECLARED_NAMES: RefNames = RefNames(None);

impl RefNames {
    /// Declares the names of a log's refs. A name matches `^[a-z][a-z0-9_]*$`, has at most [`REF_NAME_BYTES_MAX`] bytes, occurs
    /// once, and is not the name of another field of an event. There are at most [`REFS_MAX`] names.
    ///
    /// # Errors
    /// `Invalid`.
    pub fn new<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Result<RefNames> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        let refuse = |value: &str, rule: String| Err(Error::invalid("refs", value, rule));
        if names.len() > REFS_MAX {
            let count = format!("{} names", names.len());
            return refuse(&count, format!("must have at most {REFS_MAX} names"));
        }
        for (at, name) in names.iter().enumerate() {
            let shown: String = name.chars().take(80).collect();
            if !is_kind(name) || name.len() > REF_NAME_BYTES_MAX {
                let rule = format!(
                    "must be names that match ^[a-z][a-z0-9_]*$ and have at most {REF_NAME_BYTES_MAX} bytes"
                );
                return refuse(&shown, rule);
            }
            if OTHER_FIELDS.contains(&&**name) {
                return refuse(&shown, "must not have the name of another field".to_owned());
            }
            if names.iter().take(at).any(|before| before == name) {
                return refuse(&shown, "must differ from each other".to_owned());
            }
        }
        if names == UNDECLARED {
            return Ok(RefNames::default());
        }
        let declared = names.into_iter().map(|name| Declared {
            opening: format!(",\"{name}\":\""),
            name,
        });
        Ok(RefNames(Some(declared.collect())))
    }

    /// Returns the names, in stored order, without `key`.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        (0..REFS_MAX as u8).map_while(|place| self.name(Ref(place)))
    }

    /// Returns the name of a ref; `None` if the log declares no ref at its place.
    pub fn name(&self, wanted: Ref) -> Option<&str> {
        if wanted == Ref::KEY {
            return Some("key");
        }
        match &self.0 {
            None => UNDECLARED.get(wanted.index()).copied(),
            Some(declared) => Some(&declared.get(wanted.index())?.name),
        }
    }

    /// Returns the ref with this name.
    pub fn find(&self, name: &str) -> Option<Ref> {
        Ref::ALL
            .into_iter()
            .find(|known| self.name(*known) == Some(name))
    }

    /// Returns the number of names.
    pub(crate) fn count(&self) -> usize {
        self.0.as_ref().map_or(REFS_MAX, |declared| declared.len())
    }

    /// Returns true if `log.json` must hold the names.
    pub(crate) fn are_declared(&self) -> bool {
        self.0.is_some()
    }

    /// Calls `visit` for each declared ref, until `visit` fails. `visit` gets the ref's place, and the start of the ref's field
    /// in `jsonl`. The function is inlined, so that the starts for a log without declared refs stay constants.
    #[inline]
    pub(crate) fn each_opening<E>(
        &self,
        mut visit: impl FnMut(usize, &str) -> Result<(), E>,
    ) -> Result<(), E> {
        match &self.0 {
            None => {
                let mut openings = UNDECLARED_OPENINGS.iter().enumerate();
                openings.try_for_each(|(place, opening)| visit(place, opening))
            }
            Some(declared) => {
                let mut declared = declared.iter().enumerate();
                declared.try_for_each(|(place, one)| visit(place, &one.opening))
            }
        }
    }
}

impl std::fmt::Debug for RefNames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

impl std::fmt::Display for RefNames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, name) in self.names().enumerate() {
            write!(f, "{}{name}", if at == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

/// The things that an event points at. Stored order: the declared refs, the cause, the key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Refs<'a> {
    /// Values of the refs. The index of a value is the place of its ref.
    pub names: [Option<Cow<'a, str>>; PLACES],
    /// The event that caused this event.
    pub cause: Option<EventId>,
}

impl<'a> Refs<'a> {
    /// Returns the value of a ref.
    pub fn get(&self, wanted: impl Into<Ref>) -> Option<&str> {
        self.names[wanted.into().index()].as_deref()
    }
    /// Sets a ref.
    pub fn set(&mut self, wanted: impl Into<Ref>, value: impl Into<Cow<'a, str>>) {
        self.names[wanted.into().index()] = Some(value.into());
    }
    /// Removes a ref.
    pub fn clear(&mut self, wanted: impl Into<Ref>) {
        self.names[wanted.into().index()] = None;
    }
    /// Sets the refs that have a value.
    pub fn set_given<R: Into<Ref>, const N: usize>(&mut self, refs: [(R, Option<&str>); N]) {
        for (wanted, value) in refs {
            if let Some(value) = value {
                self.set(wanted, value.to_owned());
            }
        }
    }
    /// Converts these refs into refs that own their strings.
    pub(crate) fn into_owned(self) -> Refs<'static> {
        Refs {
            names: self
                .names
                .map(|name| name.map(|text| Cow::Owned(text.into_owned()))),
            cause: self.cause,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_names_by_place_and_places_by_name() {
        let names = RefNames::new(["order_id", "customer"]).unwrap();
        assert_eq!(names.to_string(), "order_id, customer");
        assert_eq!((names.count(), names.are_declared()), (2, true));
        assert_eq!(names.find("customer"), Some(Ref::new(1)));
        assert_eq!(names.name(Ref::new(2)), None);
        assert_eq!(names.name(Ref::KEY), Some("key"));
    }

    #[test]
    fn the_names_of_a_log_that_declares_none_need_no_declaration() {
        let names = RefNames::new(UNDECLARED).unwrap();
        assert_eq!(names, RefNames::default());
        assert!(!names.are_declared());
        let shown = names.each_opening(|place, opening| {
            let name = UNDECLARED[place];
            match opening == format!(",\"{name}\":\"") {
                true => Ok(()),
                false => Err(name),
            }
        });
        assert_eq!(shown, Ok(()));
        assert!(!RefNames::new(["a"; 0]).unwrap().names().any(|_| true));
    }

    #[test]
    fn refuses_other_names() {
        let long = "a".repeat(REF_NAME_BYTES_MAX + 1);
        let bad: [&[&str]; 9] = [
            &["a", "b", "c", "d", "e", "f", "g"],
            &["A"],
            &[""],
            &["1a"],
            &["a-b"],
            &[&long],
            &["key"],
            &["payload"],
            &["a", "b", "a"],
        ];
        for names in bad {
            let error = RefNames::new(names.iter().copied()).unwrap_err();
            assert!(error.to_string().starts_with("refs must "), "{error}");
        }
    }
}
