//! Stored rows of threads.

use crate::natural;
use crate::prelude::*;

/// Namespace of threads; key: id, in natural order.
pub(super) const THREAD: u8 = 0x48;
/// Single row: the largest number of a thread.
pub(super) const NUMBERED: u8 = 0x49;
/// Series of a thread's posts.
pub(super) const POSTS: u8 = 0xB0;
/// Namespace of the threads of tasks; key: task id.
pub(super) const OF_TASK: u8 = 0xB1;
/// Marks of the authors of posts; key: thread id, author.
const AUTHORS: u8 = 0xB6;

/// A thread; its key has the id.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize,
)]
pub struct Thread {
    /// Id of the thread.
    #[rkyv(with = Skip)]
    pub id: String,
    /// First event of the thread.
    pub first: u64,
    /// Last event of the thread.
    pub seq: u64,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time of the last event.
    pub updated_at: Timestamp,
    /// Number of messages.
    pub messages: u64,
    /// Exact length of a complete `threads/<id>.jsonl`, in bytes.
    pub view_bytes: u64,
    /// Seq and id of the event that recorded the last message.
    #[rkyv(with = As<Option<(u64, [u8; 16])>>)]
    pub last_post: Option<(u64, EventId)>,
    /// Title.
    pub title: String,
    /// Participants.
    pub participants: Vec<String>,
    /// Task of the thread, if any.
    pub task_id: Option<String>,
    /// Trace id, if any.
    pub trace_id: Option<String>,
}
row!(Thread);

/// The thread of a task, which has the comments on the task: the first thread that was linked to the task.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub(super) struct TaskThread {
    /// Id of the thread.
    pub thread_id: String,
}
row!(TaskThread);

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

pub(super) fn task_thread_key(task_id: &str) -> Vec<u8> {
    key_of(OF_TASK, task_id.as_bytes())
}

/// Returns the first bytes of the keys of a thread's authors.
pub(super) fn authors_key(id: &str) -> Vec<u8> {
    named(AUTHORS, id)
}

pub(super) fn author_key(id: &str, author: &str) -> Vec<u8> {
    [&*authors_key(id), author.as_bytes()].concat()
}

/// Returns the number in an id.
pub(super) fn number(id: &str) -> Option<u64> {
    natural::number(id.strip_prefix(super::ID_PREFIX)?)
}
