//! Builders of delivery events.

use super::{Delivery, attempt_end};
use crate::event::delivery::{DeliveryAttempt, DeliveryFact, DeliveryRequired};
use crate::event::setting::Policy;
use crate::message::{MessageInfo, event_about};
use crate::prelude::*;

impl DeliveryFact {
    /// Creates a delivery whose first attempt begins now.
    pub fn required(now: Timestamp, message_id: &str, policy: Policy, requeued: bool) -> Self {
        DeliveryFact::Required(DeliveryRequired {
            message_id: message_id.to_owned(),
            policy,
            due_at: Some(attempt_end(now, policy.ack_timeout_seconds, 1)),
            requeued,
        })
    }
    /// Creates a further attempt, which begins now. The previous attempt ended at `due_at`.
    pub fn retry(now: Timestamp, delivery: &Delivery, attempt: u32, due_at: Timestamp) -> Self {
        let timeout = delivery.policy.ack_timeout_seconds;
        DeliveryFact::Retry(DeliveryAttempt {
            message_id: delivery.message_id.clone(),
            attempt,
            due_at: Some(due_at.to_string()),
            ends_at: Some(attempt_end(now, timeout, 1)),
        })
    }
    /// Builds the event.
    pub fn event(&self, actor: &str, message: &MessageInfo) -> NewEvent {
        event_about(self.kind(), actor, message, self)
    }
}
