//! How messages are stored.

use crate::message::MessageType;
use crate::tx::{key_of, row};

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

#[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub(super) struct MessageRow {
    pub seq: u64,
    pub acked: u64,
    pub kind: u8,
    pub to: String,
    pub task_id: Option<String>,
    pub trace_id: Option<String>,
}
row!(MessageRow);

#[derive(Default, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub(super) struct AgentRow {
    pub received: u64,
    pub unread: u64,
    pub wakeups: u64,
    pub view_bytes: u64,
    pub last_seq: u64,
}
row!(AgentRow);

#[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub(super) struct LastSentRow {
    pub seq: u64,
    pub at: i64,
}
row!(LastSentRow);

#[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub(super) struct UnackedRow {
    pub at: i64,
    pub id: String,
    pub to: String,
}
row!(UnackedRow);

/// The key of the cooldown: `to::task-or-dash::type`.
pub(super) fn cooldown_key(to: &str, task_id: Option<&str>, kind: MessageType) -> Vec<u8> {
    let parts = [to, "::", task_id.unwrap_or("-"), "::", kind.name()];
    key_of(LAST_SENT, parts.concat().as_bytes())
}
