//! How threads are stored.

use crate::natural;
use crate::tx::row;
use teamlog_engine::{EventId, Timestamp};

/// By id, in natural order: the thread.
pub(super) const THREAD: u8 = 0x48;
/// The largest number that is the id of a thread.
pub(super) const NUMBERED: u8 = 0x49;
/// Series by thread: what was said in it.
pub(super) const POSTS: u8 = 0xB0;

/// A thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread {
    /// Its id.
    pub id: String,
    /// What it is about.
    pub title: String,
    /// Who takes part.
    pub participants: Vec<String>,
    /// The task that it belongs to.
    pub task_id: Option<String>,
    /// The story that it belongs to.
    pub trace_id: Option<String>,
    /// How many messages it holds.
    pub messages: u64,
    /// The event that began it.
    pub first: u64,
    /// The last event of it.
    pub seq: u64,
    /// When it began.
    pub created_at: Timestamp,
    /// When the last thing happened to it.
    pub updated_at: Timestamp,
    /// The event that recorded its last message, and that event's id.
    pub last_post: Option<(u64, EventId)>,
    /// Exact length of `threads/<id>.jsonl` in bytes, if it is whole.
    pub view_bytes: u64,
}

/// A [`Thread`] as stored, under its id.
#[derive(Default, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub(super) struct ThreadRow {
    pub first: u64,
    pub seq: u64,
    pub created_at: i64,
    pub updated_at: i64,
    pub messages: u64,
    pub view_bytes: u64,
    pub last_post: Option<(u64, [u8; 16])>,
    pub title: String,
    pub participants: Vec<String>,
    pub task_id: Option<String>,
    pub trace_id: Option<String>,
}
row!(ThreadRow);

pub(super) fn thread_key(id: &str) -> Vec<u8> {
    let mut key = vec![THREAD];
    natural::encode(id, &mut key);
    key
}

/// The number that an id is made of.
pub(super) fn number(id: &str) -> Option<u64> {
    let digits = id.strip_prefix(super::ID_PREFIX)?;
    let plain = digits.len() <= NUMBER_DIGITS_MAX && digits.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

/// Larger numbers than anybody counts to are names like others.
const NUMBER_DIGITS_MAX: usize = 15;
