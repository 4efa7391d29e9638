//! The search: documents, queries, and the answers of the index.
//!
//! A task is found by its current texts and fields. A message, a thread and a post are found by the event that recorded them,
//! and an event of another program by its tags.
//! The index is a set of postings per term; [`crate::terms`] defines words and keys.

mod document;
mod fold;
mod query;
mod read;

pub use document::{Document, Kind};
pub(crate) use fold::apply;
pub use query::{Field, Matcher, Query, Term};
pub use read::{Match, Position, SearchPage};

/// Series of the postings of messages, threads and posts, by term.
const TEXT_TERMS: u8 = 0xC0;
