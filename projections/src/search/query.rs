//! Queries of the search. The caller parses the text of a query; these are its parts.

use super::Kind;
use crate::common::*;
use crate::task::Status;

words! {
    /// A field of a query.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[repr(u8)]
    pub enum Field {
        /// Kind of the entry.
        Kind = "kind",
        /// Author, or creator of a task.
        By = "by" | "from",
        /// Recipient, or owner of a task.
        To = "to" | "owner",
        /// The task itself, and documents about the task.
        Task = "task",
        /// Status of a task.
        Status = "status",
        /// Label of a task.
        Label = "label",
        /// Tag of an event.
        Tag = "tag",
        /// Earliest time.
        After = "after" | "since",
        /// Time before which it was recorded.
        Before = "before" | "until",
    }
}

/// Condition that a term of a query sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Matcher {
    /// The words, one after the other. If `is_prefix`, the last word may be the beginning of a word.
    Words {
        /// The words, as the index holds them.
        phrase: Vec<String>,
        /// True if the last word is the beginning of a word.
        is_prefix: bool,
    },
    /// This kind.
    Kind(Kind),
    /// This author, or creator of a task.
    By(String),
    /// This recipient, or owner of a task.
    To(String),
    /// The task itself, and documents about the task.
    Task(String),
    /// A task of this status.
    Status(Status),
    /// A task with this label.
    Label(String),
    /// An event of another program with this tag.
    Tag(String),
}

/// A term of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// True if the term must not match.
    pub is_negated: bool,
    /// The demand.
    pub matcher: Matcher,
}

/// A query: all terms must match, and the event must lie in a range.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// The terms.
    pub terms: Vec<Term>,
    /// Seq of the first event that may be found.
    pub first: u64,
    /// Seq of the event after the last that may be found; `None` without a bound.
    pub end: Option<u64>,
}

impl Query {
    /// Returns true if a match must have a tag. Only events of other programs have tags.
    pub(super) fn is_of_tags(&self) -> bool {
        let mut terms = self.terms.iter();
        terms.any(|term| !term.is_negated && matches!(term.matcher, Matcher::Tag(_)))
    }
}
