//! How messages are stored.

use crate::event::message::MessageType;
use crate::prelude::*;

/// By message id.
pub(super) const MESSAGE: u8 = 0x20;
/// By agent.
pub(super) const AGENT: u8 = 0x21;
/// By recipient, task and type: what was last sent.
pub(super) const LAST_SENT: u8 = 0x22;
/// By message id: what became of it beside its ack.
pub(super) const MARKS: u8 = 0x23;
/// By id of a dispatch request.
pub(super) const DISPATCH: u8 = 0x24;
/// By id: that the request is open.
pub(super) const OPEN_DISPATCH: u8 = 0x26;
/// By agent: how many of its messages are delivered, how many requests to tell it are open.
pub(super) const MAIL_COUNTS: u8 = 0x25;
/// Series by agent: every message.
pub(super) const INBOX: u8 = 0x80;
/// Series by agent: messages that are not delivered, and hence not acknowledged.
pub(super) const UNDELIVERED: u8 = 0x81;
/// One series: messages of all agents that are not acknowledged, so that the oldest are found at its front.
pub(super) const UNACKED: u8 = 0x82;
/// Series by agent: messages that are delivered and not acknowledged.
pub(super) const DELIVERED: u8 = 0x83;
/// Series by digest of sender, recipient and body: plain mail that is not delivered.
pub(super) const SAME: u8 = 0x84;

/// What is known of a message without reading the log.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct MessageInfo {
    /// Its id.
    #[rkyv(with = Skip)]
    pub id: String,
    /// The event that recorded it.
    pub seq: u64,
    /// The event that acknowledged it.
    #[rkyv(with = As<u64>)]
    pub acked: Option<u64>,
    /// Its type.
    pub kind: MessageType,
    /// Its recipient.
    pub to: String,
    /// The task concerned.
    pub task_id: Option<String>,
    /// The story it belongs to.
    pub trace_id: Option<String>,
}
row!(MessageInfo);

impl MessageInfo {
    /// A message that the log does not hold.
    pub fn unknown(id: &str, to: &str) -> MessageInfo {
        MessageInfo {
            id: id.to_owned(),
            seq: 0,
            acked: None,
            kind: MessageType::Message,
            to: to.to_owned(),
            task_id: None,
            trace_id: None,
        }
    }
}

/// What an agent's inbox amounts to.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize,
)]
pub struct AgentInfo {
    /// The agent.
    #[rkyv(with = Skip)]
    pub name: String,
    /// Messages received.
    pub received: u64,
    /// Of those, not acknowledged.
    pub unread: u64,
    /// Of the unread ones, wake-ups (`agent_wakeup_required`), which nobody is to be woken up for.
    pub wakeups: u64,
    /// Exact length of `inboxes/<agent>.jsonl` in bytes, if it is whole.
    pub view_bytes: u64,
    /// The last event that put something into the inbox.
    pub last_seq: u64,
}
row!(AgentInfo);

/// A message that nobody acknowledged yet.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct Unacked {
    /// The event that recorded it.
    #[rkyv(with = Skip)]
    pub seq: u64,
    /// When it was recorded.
    pub recorded_at: Timestamp,
    /// Its id.
    pub id: String,
    /// Its recipient.
    pub to: String,
}
row!(Unacked);

/// When something was last sent to a recipient about a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct LastSent {
    /// The event that recorded it.
    pub seq: u64,
    /// When it was sent.
    pub at: Timestamp,
}
row!(LastSent);

/// The key of the cooldown: `to::task-or-dash::type`.
pub(super) fn cooldown_key(to: &str, task_id: Option<&str>, kind: MessageType) -> Vec<u8> {
    let parts = [to, "::", task_id.unwrap_or("-"), "::", kind.name()];
    key_of(LAST_SENT, parts.concat().as_bytes())
}
