//! Threads: discussions between agents, optionally about a task. The posts stay in the log.

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

/// Prefix of a thread's id; a number follows.
pub const ID_PREFIX: &str = "thread-";

/// Returns the id of a thread, given its number.
pub fn id(number: u64) -> String {
    format!("{ID_PREFIX}{number:04}")
}

/// Prefix of a post's id; the id of its event follows.
const POST_PREFIX: &str = "msg-";

/// Returns the id of a post, given the id of its event.
pub fn post_id(event: EventId) -> String {
    format!("{POST_PREFIX}{event}")
}

/// Returns the event id in a post's id.
pub fn event_of_post(id: &str) -> Option<EventId> {
    EventId::from_text(id.strip_prefix(POST_PREFIX)?.as_bytes())
}
