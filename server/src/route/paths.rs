//! Who may write where.

use super::problem::Problem;
use super::record::moment;
use schemars::JsonSchema;
use serde::Serialize;
use teamlog_team::Team;
use teamlog_team::engine::Timestamp;
use teamlog_team::resource::can_write::{CanWrite, WriteReason};

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

/// `GET /v1/can-write`.
pub fn can_write(asked: CanWrite, team: &mut Team) -> Result<CanWriteBody, Problem> {
    let verdict = team.can_write(asked)?;
    Ok(CanWriteBody {
        allow: verdict.allow,
        reason: verdict.reason,
        path: verdict.path,
        task_id: verdict.task_id,
        holder: verdict.holder,
        resource: verdict.resource,
        until: verdict.until.as_deref().map(moment),
    })
}
