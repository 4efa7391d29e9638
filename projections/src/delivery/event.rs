//! Deliveries, and the JSON of what is recorded of them.

use crate::delivery::{Delivery, attempt_end};
use crate::message::MessageInfo;
use crate::prelude::*;
use crate::team::settings::Policy;

events! {
    /// What happens to a delivery.
    #[derive(Serialize)]
    #[serde(untagged)]
    pub enum DeliveryFact in Fact::Delivery {
        /// A message needs an ack; deadlines and retries are set.
        "delivery_required" by "teamlog send TEAM --require-ack" => Required: DeliveryRequired [id message_id] {
            /// The message.
            pub message_id: String,
            /// When it is tried again, and how often.
            #[serde(flatten)]
            pub policy: Policy,
            /// When the first attempt ends; without it, one timeout behind the event, as logs of earlier versions have it.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub due_at: Option<Timestamp>,
            /// Whether a dead letter is given another chance.
            #[serde(default, skip_serializing_if = "std::ops::Not::not")]
            pub requeued: bool,
        },
        /// A delivery was tried again.
        "delivery_retry" by "teamlog tick TEAM" => Retry:
        /// An attempt that began because the one before ended without an ack, or one that got it.
        DeliveryAttempt [id message_id] {
            /// The message.
            pub message_id: String,
            /// The attempt; the second one is 2.
            pub attempt: u32,
            /// When the attempt before ended.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub due_at: Option<String>,
            /// When this attempt ends; without it, one timeout after the attempt before, as logs of earlier versions have it.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub ends_at: Option<Timestamp>,
        },
        /// A delivery that needed an ack got it.
        "delivery_acked" by "teamlog ack TEAM" => Acked(DeliveryAttempt),
        /// A delivery ran out of retries; the message became a dead letter.
        "delivery_dead_letter" by "teamlog tick TEAM" => Dead: DeliveryDead [id id, id message_id] {
            /// The dead letter's own id.
            pub id: String,
            /// The message.
            pub message_id: String,
            /// Why: `ack_timeout`.
            pub reason: String,
            /// How many attempts were made.
            pub attempts: u32,
            /// When the last of them ended.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub due_at: Option<String>,
        },
    }
}

/// An event about a message: its recipient, task and story are those of the message.
pub(crate) fn about(
    kind: &'static str,
    actor: &str,
    message: &MessageInfo,
    payload: &impl Serialize,
) -> NewEvent {
    let to = Some(&*message.to).filter(|to| !to.is_empty());
    let refs = [
        (RefKind::Message, Some(&*message.id)),
        (RefKind::Agent, to),
        (RefKind::Trace, message.trace_id.as_deref()),
        (RefKind::Task, message.task_id.as_deref()),
    ];
    event(kind, actor, write(payload), refs)
}

impl DeliveryFact {
    /// A delivery of which the first attempt begins now.
    pub fn required(now: Timestamp, message_id: &str, policy: Policy, requeued: bool) -> Self {
        DeliveryFact::Required(DeliveryRequired {
            message_id: message_id.to_owned(),
            policy,
            due_at: Some(attempt_end(now, policy.ack_timeout_seconds, 1)),
            requeued,
        })
    }
    /// A further attempt, which begins now, after the one before ended at `due_at`.
    pub fn retry(now: Timestamp, delivery: &Delivery, attempt: u32, due_at: Timestamp) -> Self {
        let timeout = delivery.policy.ack_timeout_seconds;
        DeliveryFact::Retry(DeliveryAttempt {
            message_id: delivery.message_id.clone(),
            attempt,
            due_at: Some(due_at.to_string()),
            ends_at: Some(attempt_end(now, timeout, 1)),
        })
    }
    /// The event that records it.
    pub fn event(&self, actor: &str, message: &MessageInfo) -> NewEvent {
        about(self.kind(), actor, message, self)
    }
}
