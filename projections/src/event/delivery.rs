//! Deliveries, and the JSON of their events.

use super::setting::Policy;
use super::*;

events! {
    /// Events of a delivery.
    #[derive(Serialize)]
    #[serde(untagged)]
    pub enum DeliveryFact {
        /// A message needs an ack; deadlines and retries are set.
        "delivery_required" by "teamlog send TEAM --require-ack" => Required: DeliveryRequired [id message_id] {
            /// Id of the message.
            pub message_id: String,
            /// Ack timeout and number of retries.
            #[serde(flatten)]
            pub policy: Policy,
            /// End of the first attempt. Logs of earlier versions do not have this field; there the first attempt ends one
            /// timeout after the event.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub due_at: Option<Timestamp>,
            /// True if the message was a dead letter and is delivered again.
            #[serde(default, skip_serializing_if = "std::ops::Not::not")]
            pub requeued: bool,
        },
        /// A delivery was tried again.
        "delivery_retry" by "teamlog tick TEAM" => Retry:
        /// A delivery attempt: a retry that began after an attempt without an ack, or the attempt that got the ack.
        DeliveryAttempt [id message_id] {
            /// Id of the message.
            pub message_id: String,
            /// Number of the attempt; the first retry is 2.
            pub attempt: u32,
            /// End of the previous attempt.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub due_at: Option<String>,
            /// End of this attempt. Logs of earlier versions do not have this field; there the attempt ends one timeout after the
            /// end of the previous attempt.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub ends_at: Option<Timestamp>,
        },
        /// A delivery got the ack that it needed.
        "delivery_acked" by "teamlog ack TEAM" => Acked(DeliveryAttempt),
        /// A delivery ran out of retries; the message became a dead letter.
        "delivery_dead_letter" by "teamlog tick TEAM" => Dead: DeliveryDead [id id, id message_id] {
            /// Id of the dead letter.
            pub id: String,
            /// Id of the message.
            pub message_id: String,
            /// Reason: `ack_timeout`.
            pub reason: String,
            /// Number of attempts.
            pub attempts: u32,
            /// End of the last attempt.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub due_at: Option<String>,
        },
    }
}
