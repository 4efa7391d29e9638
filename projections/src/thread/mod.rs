//! Threads: talks between agents, perhaps about a task. What was said stays in the log.

pub use crate::event::thread as event;
mod fold;
mod query;
mod row;
mod shown;
pub(crate) mod view;

use crate::prelude::EventId;

pub(crate) use fold::apply;
pub use row::Thread;
pub use shown::{PostShown, SCHEMA_VERSION, ThreadShown, post_line};

pub(crate) use query::{all, seqs};

/// How the id of a thread begins; a number follows.
pub const ID_PREFIX: &str = "thread-";

/// The id of the thread of that number.
pub fn id(number: u64) -> String {
    format!("{ID_PREFIX}{number:04}")
}

/// Prefix of a post's id; the id of its event follows.
const POST_PREFIX: &str = "msg-";

/// The id of the post that an event recorded.
pub fn post_id(event: EventId) -> String {
    format!("{POST_PREFIX}{event}")
}

/// The event that the id of a post names.
pub fn event_of_post(id: &str) -> Option<EventId> {
    EventId::from_text(id.strip_prefix(POST_PREFIX)?.as_bytes())
}
