//! Stored rows of messages.

use crate::event::message::MessageType;
use crate::prelude::*;

/// Namespace of messages; key: message id.
pub(super) const MESSAGE: u8 = 0x20;
/// Namespace of agents' inbox counts; key: agent.
pub(super) const AGENT: u8 = 0x21;
/// Namespace of the last sent message; key: recipient, task and type.
pub(super) const LAST_SENT: u8 = 0x22;
/// Namespace of marks; key: message id.
pub(super) const MARKS: u8 = 0x23;
/// Namespace of dispatch requests; key: request id.
pub(super) const DISPATCH: u8 = 0x24;
/// Namespace of markers of open dispatch requests; key: request id.
pub(super) const OPEN_DISPATCH: u8 = 0x26;
/// Namespace of mail counts; key: agent.
pub(super) const MAIL_COUNTS: u8 = 0x25;
/// Series of all messages of an agent.
pub(super) const INBOX: u8 = 0x80;
/// Series of undelivered messages of an agent, which are also unacknowledged.
pub(super) const UNDELIVERED: u8 = 0x81;
/// Single series of unacknowledged messages of all agents, so that the oldest are found first.
pub(super) const UNACKED: u8 = 0x82;
/// Series of delivered and unacknowledged messages of an agent.
pub(super) const DELIVERED: u8 = 0x83;
/// Series of undelivered plain mail, by digest of sender, recipient and body.
pub(super) const SAME: u8 = 0x84;

/// Indexed fields of a message, available without reading the log.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct MessageInfo {
    /// Id of the message.
    #[rkyv(with = Skip)]
    pub id: String,
    /// Event that recorded the message.
    pub seq: u64,
    /// Event that acknowledged the message.
    #[rkyv(with = As<u64>)]
    pub acked: Option<u64>,
    /// Type of the message.
    pub kind: MessageType,
    /// Recipient.
    pub to: String,
    /// Task of the message, if any.
    pub task_id: Option<String>,
    /// Trace id, if any.
    pub trace_id: Option<String>,
}
row!(MessageInfo);

impl MessageInfo {
    /// Returns the fields of a message that the log does not have.
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

/// Counts of an agent's inbox.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize,
)]
pub struct AgentInfo {
    /// Name of the agent.
    #[rkyv(with = Skip)]
    pub name: String,
    /// Number of received messages.
    pub received: u64,
    /// Number of unacknowledged messages.
    pub unread: u64,
    /// Number of unread wake-ups (`agent_wakeup_required`). A wake-up only reminds of other mail, so an unread wake-up is no
    /// reason to wake the agent.
    pub wakeups: u64,
    /// Exact length of a complete `inboxes/<agent>.jsonl`, in bytes.
    pub view_bytes: u64,
    /// Last event that added a message to the inbox.
    pub last_seq: u64,
}
row!(AgentInfo);

/// An unacknowledged message.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct Unacked {
    /// Event that recorded the message.
    #[rkyv(with = Skip)]
    pub seq: u64,
    /// Time of recording.
    pub recorded_at: Timestamp,
    /// Id of the message.
    pub id: String,
    /// Recipient.
    pub to: String,
}
row!(Unacked);

/// Last message to a recipient about a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct LastSent {
    /// Event that recorded the message.
    pub seq: u64,
    /// Send time.
    pub at: Timestamp,
}
row!(LastSent);

/// Returns the key of the cooldown: `to::task-or-dash::type`.
pub(super) fn cooldown_key(to: &str, task_id: Option<&str>, kind: MessageType) -> Vec<u8> {
    let parts = [to, "::", task_id.unwrap_or("-"), "::", kind.name()];
    key_of(LAST_SENT, parts.concat().as_bytes())
}
