//! Who may write where.

use super::endpoint::{Endpoint, Facts};
use super::problem::Problem;
use super::record::moment;
use super::request::RequestContext;
use crate::reply::Reply;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use teamlog_team::engine::Timestamp;
use teamlog_team::resource::can_write::{CanWrite as Ask, WriteReason};

/// `GET /v1/can-write`.
pub struct CanWrite;

/// Who is to write what.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct CanWriteInput {
    /// Who is to write
    agent_id: String,
    /// What: relative to the repository, or absolute where its root is set; else the whole of it
    path: Option<String>,
}

/// `{allow, reason, path, taskId?, holder?, resource?, until?}`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CanWriteBody {
    /// Whether the agent may
    allow: bool,
    /// Why, or why not
    reason: WriteReason,
    /// The path, relative to the repository
    path: String,
    /// The task that declares it
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<String>,
    /// Who holds that task
    #[serde(skip_serializing_if = "Option::is_none")]
    holder: Option<String>,
    /// What it declares
    #[serde(skip_serializing_if = "Option::is_none")]
    resource: Option<String>,
    /// Until when, unless the lease is renewed
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Timestamp>")]
    until: Option<String>,
}

impl Endpoint for CanWrite {
    type Input = CanWriteInput;
    type Answer = CanWriteBody;
    const FACTS: Facts = Facts::get(
        "/v1/can-write",
        "canWrite",
        "Whether an agent may write a path, and why; a no is an answer as well",
    );

    fn answer(input: CanWriteInput, request: &mut RequestContext<'_>) -> Result<Reply, Problem> {
        request.look(|team| {
            let verdict = team.can_write(Ask {
                agent: input.agent_id,
                path: input.path,
            })?;
            Ok(CanWriteBody {
                allow: verdict.allow,
                reason: verdict.reason,
                path: verdict.path,
                task_id: verdict.task_id,
                holder: verdict.holder,
                resource: verdict.resource,
                until: verdict.until.as_deref().map(moment),
            })
        })
    }
}
