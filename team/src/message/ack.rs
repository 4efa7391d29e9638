//! `ack`: records that the recipient has read a message, and closes the message's open delivery in the same group. An ack of a post in a
//! thread also covers all earlier posts to the agent. An invalid ack (duplicate, wrong recipient, unknown id) is recorded by an event that
//! does not change the state.

use crate::operation::prelude::*;
use crate::projections::PostInfo;
use crate::projections::delivery::State;
use crate::projections::delivery::event::{DeliveryAttempt, DeliveryFact};
use crate::projections::message::MessageInfo;
use crate::projections::message::event::{AckRefused, MessageAcked};

operation! {
    /// Acknowledge a message as its recipient; for a post, also all earlier posts to the agent
    "ack": Records(Ack {
        /// Recipient of the message
        #[arg(long, value_name = "AGENT")]
        agent: String,
        /// Id of the message, or of a post in a thread; an ack of a post covers all earlier posts to the recipient
        #[arg(long, value_name = "ID")]
        message_id: String,
    }) -> AckAnswer as ack,
    refuses = [WorkerNotFound]
}

/// Outcome of an ack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "MessageAckStatus")]
pub enum AckStatus {
    /// The ack is valid and was recorded.
    Acked,
    /// The message was acknowledged before. Nothing changed.
    AlreadyAcked,
    /// No message has the given id. The command exits with 1.
    NotFound,
    /// The message is addressed to another agent. The command exits with 1.
    WrongRecipient,
}

/// The answer `{status, message_id, agent}`, with `expected` for a wrong recipient and `posts_read` for a post.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AckAnswer {
    /// Outcome of the ack.
    pub status: AckStatus,
    /// Id of the message or post.
    pub message_id: String,
    /// The agent that acknowledged.
    pub agent: String,
    /// Recipient of the message, if it is not the acknowledging agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// Number of posts that this ack covers: the named post and earlier unread posts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub posts_read: Option<u64>,
}

impl Command for Ack {
    type Decided = AckAnswer;
    type Answer = AckAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Agent(&self.agent))
    }

    fn decide(&self, _: &Ctx, live: &Live) -> Result<Decision<AckAnswer>> {
        membership::check(live, "agent", &self.agent)?;
        names::check_known_free("message_id", &self.message_id)?;
        let message = live.message(&self.message_id)?;
        let ack = MessageAcked {
            message_id: self.message_id.clone(),
            agent: self.recipient(live, message.as_ref())?,
        };
        if message.is_none()
            && let Some(post) = live.post_to(&self.agent, &self.message_id)?
        {
            return self.decide_post(live, &post, &ack);
        }
        let (status, mut event) = match &message {
            None => (
                AckStatus::NotFound,
                ack.rejected(AckRefused::NotFound, None),
            ),
            Some(message) if message.to != ack.agent => (
                AckStatus::WrongRecipient,
                ack.rejected(AckRefused::WrongRecipient, Some(&message.to)),
            ),
            Some(message) if message.acked.is_some() => (AckStatus::AlreadyAcked, ack.repeated()),
            Some(_) => (AckStatus::Acked, ack.event(None, None)),
        };
        event.actor.clone_from(&self.agent);
        if let Some(message) = &message {
            // Adds the trace and the task of the message, even if the ack is invalid.
            event.refs.set_given([
                (RefKind::Trace, message.trace_id.as_deref()),
                (RefKind::Task, message.task_id.as_deref()),
            ]);
        }
        let wrong = status == AckStatus::WrongRecipient;
        let expected = message.as_ref().filter(|_| wrong);
        let answer = AckAnswer {
            status,
            message_id: ack.message_id,
            agent: self.agent.clone(),
            expected: expected.map(|message| message.to.clone()),
            posts_read: None,
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
                ends_at: None,
            });
            let mut event = acked.event(&self.agent, &message);
            event.cause = Some(Cause::Earlier(events.len() - 1));
            events.push(event);
        }
        Ok(Decision::Granted(answer, events))
    }

    fn answer(&self, answer: &AckAnswer, _: &After<'_>) -> Result<AckAnswer> {
        Ok(answer.clone())
    }
}

impl Ack {
    /// Returns the name under which the agent got the message: its former name, if the message was sent before the agent was renamed.
    fn recipient(&self, live: &Live, message: Option<&MessageInfo>) -> Result<String> {
        let to = message
            .map(|message| &message.to)
            .filter(|to| **to != self.agent);
        Ok(match to {
            Some(to) if live.former_names(&self.agent)?.contains(to) => to.clone(),
            _ => self.agent.clone(),
        })
    }

    /// Decides on the ack of a post. Such an ack also covers all earlier posts to the agent.
    fn decide_post(
        &self,
        live: &Live,
        post: &PostInfo,
        ack: &MessageAcked,
    ) -> Result<Decision<AckAnswer>> {
        let read = live.post_counts(&self.agent)?.read;
        let covered = post.number.saturating_sub(read);
        let (status, mut event) = match covered {
            0 => (AckStatus::AlreadyAcked, ack.repeated()),
            _ => (AckStatus::Acked, ack.event(None, None)),
        };
        let thread = live.thread(&post.thread_id)?;
        let task = thread.as_ref().and_then(|thread| thread.task_id.as_deref());
        let of_task = page::trace_of_task(live, task)?;
        let trace = thread
            .as_ref()
            .and_then(|thread| thread.trace_id.as_deref());
        event.refs.set_given([
            (RefKind::Thread, Some(&*post.thread_id)),
            (RefKind::Task, task),
            (RefKind::Trace, trace.or(of_task.as_deref())),
        ]);
        let joins = membership::joining(live, &self.agent)?.filter(|_| covered > 0);
        let answer = AckAnswer {
            status,
            message_id: self.message_id.clone(),
            agent: self.agent.clone(),
            expected: None,
            posts_read: Some(covered),
        };
        let events = joins.into_iter().chain([event]).collect();
        Ok(Decision::Granted(answer, events))
    }
}
