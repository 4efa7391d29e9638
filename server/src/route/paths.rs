//! Tells if an agent may write a path.

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
    /// True if the agent may write the path
    allow: bool,
    /// Reason for the answer
    reason: WriteReason,
    /// Path, relative to the repository
    path: String,
    /// Task whose resources cover the path
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<String>,
    /// Holder of the task
    #[serde(skip_serializing_if = "Option::is_none")]
    holder: Option<String>,
    /// Resource that covers the path
    #[serde(skip_serializing_if = "Option::is_none")]
    resource: Option<String>,
    /// End of the lease, unless it is renewed
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
