//! `ack`: the recipient has read a message. A delivery that waited for it is closed in the same group.
//! What does not count is recorded as a fact that moves no state.

use crate::prelude::*;
use crate::projections::delivery::State;
use crate::projections::delivery::event::{DeliveryAttempt, DeliveryFact};
use crate::projections::message::event::{AckRefused, MessageAcked};

/// What `ack` is asked.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Ack {
    /// The recipient.
    pub agent: String,
    /// The message.
    pub message_id: String,
    /// Who does it, if not the agent.
    pub actor: Option<String>,
}

/// How an ack ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

impl Team {
    /// Acknowledges a message.
    pub fn ack(&mut self, ack: Ack) -> Result<AckAnswer> {
        self.execute_unkeyed(ack)
    }
}

impl Command for Ack {
    type Decided = AckAnswer;
    type Answer = AckAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::of(Authority::Agent(&self.agent))
    }

    fn decide(&self, live: &Live, _: Timestamp) -> Result<Decision<AckAnswer>> {
        membership::check(live, "agent", &self.agent)?;
        names::check_known_free("message_id", &self.message_id)?;
        let ack = MessageAcked {
            message_id: self.message_id.clone(),
            agent: self.agent.clone(),
        };
        let message = live.message(&self.message_id)?;
        let (status, mut event) = match &message {
            None => (
                AckStatus::NotFound,
                ack.rejected(AckRefused::NotFound, None),
            ),
            Some(message) if message.to != self.agent => (
                AckStatus::WrongRecipient,
                ack.rejected(AckRefused::WrongRecipient, Some(&message.to)),
            ),
            Some(message) if message.acked.is_some() => (AckStatus::AlreadyAcked, ack.repeated()),
            Some(_) => (AckStatus::Acked, ack.event(None, None)),
        };
        if let Some(message) = &message {
            // Also an ack that does not count belongs to the trace and the task of its message.
            event.refs.set_given([
                (RefKind::Trace, message.trace_id.as_deref()),
                (RefKind::Task, message.task_id.as_deref()),
            ]);
        }
        if let Some(actor) = &self.actor {
            names::check_free("actor", actor)?;
            event.actor = actor.clone();
        }
        let wrong = status == AckStatus::WrongRecipient;
        let expected = message.as_ref().filter(|_| wrong);
        let answer = AckAnswer {
            status,
            message_id: ack.message_id,
            agent: ack.agent,
            expected: expected.map(|message| message.to.clone()),
        };
        let acked = status == AckStatus::Acked;
        let joins = membership::joining(live, &self.agent)?.filter(|_| acked);
        let mut events: Vec<NewEvent> = joins.into_iter().chain([event]).collect();
        if let Some(message) = message.filter(|_| acked)
            && let Some(delivery) = live.delivery(&message.id)?
            && delivery.state == State::Open
        {
            let acked = DeliveryFact::Acked(DeliveryAttempt {
                message_id: message.id.clone(),
                attempt: delivery.attempt,
                due_at: None,
            });
            let actor = self.actor.as_deref().unwrap_or(&self.agent);
            let mut event = acked.event(actor, &message);
            event.cause = Some(Cause::Earlier(events.len() - 1));
            events.push(event);
        }
        Ok(Decision::Granted(answer, events))
    }

    fn answer(&self, answer: &AckAnswer, _: &After<'_>) -> Result<AckAnswer> {
        Ok(answer.clone())
    }
}
