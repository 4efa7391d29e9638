//! Deliveries, and the JSON of what is recorded of them.

use super::setting::Policy;
use super::*;

events! {
    /// What happens to a delivery.
    #[derive(Serialize)]
    #[serde(untagged)]
    pub enum DeliveryFact {
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
