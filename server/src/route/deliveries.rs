//! Messages that nobody acknowledged in time.

use super::problem::Problem;
use super::request::RequestContext;
use crate::reply::Reply;
use schemars::JsonSchema;
use serde::Deserialize;
use teamlog_team::Exchange;
use teamlog_team::message::dead_letter::{DeadLetterRequeue, RequeueAnswer};

/// Which dead letter, and what its new delivery is to be like.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequeueInput {
    /// The message, whose last dead letter is meant
    message_id: String,
    /// Seconds that each attempt waits for its ack; else as before
    ack_timeout_seconds: Option<u64>,
    /// How often to try again; else as before
    max_retries: Option<u64>,
    /// Who does it
    agent_id: Option<String>,
}

/// `POST /v1/dead-letters/{messageId}/requeue`.
pub fn requeue(input: RequeueInput, request: &mut RequestContext<'_>) -> Result<Reply, Problem> {
    request.actor = input.agent_id;
    let requeue = DeadLetterRequeue {
        message_id: Some(input.message_id),
        id: None,
        ack_timeout_seconds: input.ack_timeout_seconds,
        max_retries: input.max_retries,
    };
    request.exchange(requeue, |_, answer: &RequeueAnswer, _| {
        Exchange::of(200, answer)
    })
}
