//! `ack`: the recipient has read a message.

use serde::Serialize;

/// What `ack` is asked.
#[derive(Debug, Clone, Default)]
pub struct Ack {
    /// The recipient.
    pub agent: String,
    /// The message.
    pub message_id: String,
    /// Who does it, if not the agent.
    pub actor: Option<String>,
}

/// How an ack ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AckStatus {
    /// It counts.
    Acked,
    /// It counted already.
    AlreadyAcked,
    /// There is no such message. The command exits 1.
    NotFound,
    /// The message is somebody else's. The command exits 1.
    WrongRecipient,
}

/// `{status, message_id, agent}`, and for a wrong recipient `expected`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AckAnswer {
    /// How it ended.
    pub status: AckStatus,
    /// The message.
    pub message_id: String,
    /// Who acknowledged.
    pub agent: String,
    /// Whose message it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
}
