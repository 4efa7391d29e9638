//! How threads are stored.

use crate::natural;
use crate::prelude::*;

/// By id, in natural order: the thread.
pub(super) const THREAD: u8 = 0x48;
/// The largest number that is the id of a thread.
pub(super) const NUMBERED: u8 = 0x49;
/// Series by thread: what was said in it.
pub(super) const POSTS: u8 = 0xB0;

/// A thread, as it is stored under its id.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize,
)]
pub struct Thread {
    /// Its id.
    #[rkyv(with = Skip)]
    pub id: String,
    /// The event that began it.
    pub first: u64,
    /// The last event of it.
    pub seq: u64,
    /// When it began.
    pub created_at: Timestamp,
    /// When the last thing happened to it.
    pub updated_at: Timestamp,
    /// How many messages it holds.
    pub messages: u64,
    /// Exact length of `threads/<id>.jsonl` in bytes, if it is whole.
    pub view_bytes: u64,
    /// The event that recorded its last message, and that event's id.
    #[rkyv(with = As<Option<(u64, [u8; 16])>>)]
    pub last_post: Option<(u64, EventId)>,
    /// What it is about.
    pub title: String,
    /// Who takes part.
    pub participants: Vec<String>,
    /// The task that it belongs to.
    pub task_id: Option<String>,
    /// The story that it belongs to.
    pub trace_id: Option<String>,
}
row!(Thread);

impl Stored<Option<(u64, [u8; 16])>> for Option<(u64, EventId)> {
    fn stored(&self) -> Option<(u64, [u8; 16])> {
        self.map(|(seq, id)| (seq, id.bytes()))
    }
    fn found(stored: Option<(u64, [u8; 16])>) -> Option<(u64, EventId)> {
        stored.and_then(|(seq, id)| Some((seq, EventId::from_bytes(id)?)))
    }
}

pub(super) fn thread_key(id: &str) -> Vec<u8> {
    key_of(THREAD, &natural::key(id))
}

/// The number that an id is made of.
pub(super) fn number(id: &str) -> Option<u64> {
    natural::number(id.strip_prefix(super::ID_PREFIX)?)
}
