//! Facts: the typed payloads of the events that folds know, decoded from their stored shapes.
//!
//! The stored shapes here are the only place that knows the JSON of a payload; unknown fields are tolerated,
//! a missing or mistyped one is [`Error::Undecodable`](crate::Error::Undecodable).

use crate::error::Result;
use crate::message::Message;
use teamlog_engine::{Event, NewEvent, Timestamp};

/// What an event says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// `team_created`.
    TeamCreated(TeamCreated),
    /// `members_added`.
    MembersAdded(MembersAdded),
    /// `message_sent`.
    MessageSent(Box<Message>),
    /// `message_duplicate`.
    MessageDuplicate,
    /// `message_suppressed`.
    MessageSuppressed,
    /// `message_acked`.
    MessageAcked(MessageAcked),
    /// `message_ack_duplicate`.
    MessageAckDuplicate,
    /// `ack_rejected`.
    AckRejected,
    /// Any other reserved kind: counted, moves nothing yet.
    Counted,
}

/// `team_created`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamCreated {
    /// Names of the first members.
    pub members: Vec<String>,
    /// Whether agents join by acting.
    pub open: bool,
    /// Whether view files are kept.
    pub views: bool,
}

/// `members_added`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MembersAdded {
    /// Names of the new members.
    pub members: Vec<String>,
}

/// `message_acked`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageAcked {
    /// The message.
    pub message_id: String,
    /// Its recipient.
    pub agent: String,
}

/// Why an ack was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AckRefused {
    /// No such message.
    NotFound,
    /// The message went to somebody else.
    WrongRecipient,
}

impl Fact {
    /// Reads what an event says. Must not be asked about foreign events.
    ///
    /// # Errors
    /// `Undecodable` where the payload has not the shape of its kind, or the kind is not in the vocabulary.
    pub fn decode(event: &Event<'_>) -> Result<Fact> {
        let _ = event;
        todo!()
    }
}

impl TeamCreated {
    /// The event that records it.
    pub fn event(&self, actor: &str, at: Option<Timestamp>) -> NewEvent {
        let _ = (actor, at);
        todo!()
    }
}

impl MembersAdded {
    /// The event that records it.
    pub fn event(&self, actor: &str) -> NewEvent {
        let _ = actor;
        todo!()
    }
}

impl MessageAcked {
    /// The `message_acked` event; `trace` and `task` are those of the message.
    pub fn event(&self, trace: Option<&str>, task: Option<&str>) -> NewEvent {
        let _ = (trace, task);
        todo!()
    }
    /// The `message_ack_duplicate` event.
    pub fn repeated(&self) -> NewEvent {
        todo!()
    }
    /// The `ack_rejected` event; `expected` is the message's real recipient.
    pub fn rejected(&self, why: AckRefused, expected: Option<&str>) -> NewEvent {
        let _ = (why, expected);
        todo!()
    }
}

impl AckRefused {
    /// `not_found`, `wrong_recipient`.
    pub fn name(self) -> &'static str {
        match self {
            AckRefused::NotFound => "not_found",
            AckRefused::WrongRecipient => "wrong_recipient",
        }
    }
}
