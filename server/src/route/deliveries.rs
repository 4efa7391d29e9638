//! Dead letters: messages that were not acknowledged in time.

use super::problem::Problem;
use super::request::RequestContext;
use crate::reply::Reply;
use schemars::JsonSchema;
use serde::Deserialize;
use teamlog_team::Exchange;
use teamlog_team::message::dead_letter::{DeadLetterRequeue, RequeueAnswer};

/// A dead letter, and the policy of its new delivery.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequeueInput {
    /// Id of the message; its last dead letter is requeued
    message_id: String,
    /// Ack timeout of each attempt, in seconds; default: unchanged
    ack_timeout_seconds: Option<u64>,
    /// Number of retries; default: unchanged
    max_retries: Option<u64>,
    /// Agent that requeues the message
    agent_id: Option<String>,
}

/// `POST /v1/dead-letters/{messageId}/requeue`: requeues a dead letter.
pub fn requeue(input: RequeueInput, request: &mut RequestContext<'_>) -> Result<Reply, Problem> {
    request.actor = input.agent_id;
    let requeue = DeadLetterRequeue {
        message_id: Some(input.message_id),
        id: None,
        ack_timeout_seconds: input.ack_timeout_seconds,
        max_retries: input.max_retries,
    };
    request.exchange(requeue, |_, answer: &RequeueAnswer, _| {
        Exchange::new(200, answer)
    })
}
