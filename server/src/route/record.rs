//! Tasks as HTTP shows them. The order of the fields is part of the shape.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use teamlog_team::api::milliseconds;
use teamlog_team::engine::Timestamp;
use teamlog_team::projections::task::{
    Attributes, Claim, ClaimState, Governed, Reported, UnmetDeps,
};
use teamlog_team::projections::worker::ApprovalShown;
use teamlog_team::projections::worker::supervision::ApprovalStatus;
use teamlog_team::projections::{self, Priority, Status};
use teamlog_team::task::record::value;

/// Version of every record's format.
pub const SCHEMA_VERSION: &str = "1.0.0";

/// Formats a time of a command's answer for this API.
pub fn moment(text: &str) -> String {
    Timestamp::parse(text).map_or_else(|_| text.to_owned(), milliseconds)
}

/// A task.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// Always `1.0.0`
    schema_version: &'static str,
    /// Id
    pub id: String,
    /// Title, one line
    title: String,
    /// Description
    description: String,
    /// Status
    #[schemars(with = "Status")]
    status: &'static str,
    /// Current or last owner
    owner: Option<String>,
    /// Tasks that must be completed first
    deps: Vec<String>,
    /// Dependencies that failed or were canceled, so that the task stays blocked until someone steps in; only while it
    /// waits
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failed_dependencies: Vec<String>,
    /// Dependencies that do not exist; only while the task waits
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unknown_dependencies: Vec<String>,
    /// True if the task cannot be done without changing code
    #[serde(skip_serializing_if = "Option::is_none")]
    requires_code_change: Option<bool>,
    /// True if the task can be completed only after a reviewer approved it
    #[serde(skip_serializing_if = "Option::is_none")]
    requires_approval: Option<bool>,
    /// Last decision of a reviewer
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<Approval>,
    /// Paths that the task's holder may write
    resources: Vec<String>,
    /// Current lease
    pub lease: Option<Lease>,
    /// Number of claims so far
    epoch: u64,
    /// Times of its changes
    timestamps: Timestamps,
    /// Number of applied mutations
    version: u64,
    /// Priority, if not `normal`
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Priority>")]
    priority: Option<&'static str>,
    /// True if other tasks may use the same resources at the same time
    #[serde(skip_serializing_if = "Option::is_none")]
    shared: Option<bool>,
    /// Time of the last update
    #[schemars(with = "Timestamp")]
    updated_at: String,
    /// Seq of the last event that changed the task, including reports
    updated_seq: u64,
    /// True if the last lease expired, whether recorded or not, and the task was not claimed since
    lease_expired: bool,
    /// Result of the completion
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<String>,
    /// Reason of the failure
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// Trace id
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_id: Option<String>,
    /// Status reported by a message; the report did not change the task
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Status>")]
    reported_status: Option<&'static str>,
    /// Owner named by a message; the report did not change the task
    #[serde(skip_serializing_if = "Option::is_none")]
    reported_owner: Option<String>,
    /// True if a message reported the task blocked; the report did not change the task
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    reported_blocked: bool,
    /// Progress reported by a message
    #[serde(skip_serializing_if = "Option::is_none")]
    reported_progress: Option<Value>,
    /// Estimated completion reported by a message
    #[serde(skip_serializing_if = "Option::is_none")]
    reported_eta: Option<Value>,
    /// Last note of a message
    #[serde(skip_serializing_if = "Option::is_none")]
    reported_note: Option<String>,
    /// Sender of the last message that reported something
    #[serde(skip_serializing_if = "Option::is_none")]
    reported_by: Option<String>,
    /// Time of the last message that reported something
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Timestamp>")]
    reported_at: Option<String>,
}

/// The decision of a reviewer on a task.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// Decision
    status: ApprovalStatus,
    /// True if the task requires an approval
    required: bool,
    /// Reviewer of the last decision
    reviewer: String,
    /// Reason of the decision
    decision_reason: String,
    /// Time of the decision
    #[schemars(with = "Timestamp")]
    decided_at: String,
}

/// A lease on a task.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Lease {
    /// Holder
    holder: String,
    /// Epoch of the claim; needed to renew, complete or fail the task
    epoch: u64,
    /// End of the lease
    #[schemars(with = "Timestamp")]
    expires_at: String,
}

/// Times of a task's life.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Timestamps {
    /// Creation
    #[schemars(with = "Timestamp")]
    created_at: String,
    /// Last claim
    #[schemars(with = "Option<Timestamp>")]
    started_at: Option<String>,
    /// Completion
    #[schemars(with = "Option<Timestamp>")]
    completed_at: Option<String>,
    /// Failure
    #[schemars(with = "Option<Timestamp>")]
    failed_at: Option<String>,
    /// Cancellation
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Timestamp>")]
    canceled_at: Option<String>,
}

impl Task {
    /// Returns the task as of `now`, with its unmet dependencies.
    // Destructures all fields, so that a new field must be shown here or left out on purpose.
    pub fn new(task: projections::Task, unmet: UnmetDeps, now: Timestamp) -> Task {
        let lease = task
            .claim()
            .map(|claim| Lease::new(claim, task.governed.epoch));
        let last = task.governed.claim.as_ref().map(|claim| claim.state);
        let lease_expired = match task.status.is_final() {
            true => false,
            false => task.lease_expired(now) || last == Some(ClaimState::Expired),
        };
        let timestamps = Timestamps::new(&task);
        let projections::Task {
            task_id,
            created_at: _,
            updated_at,
            owner,
            assigned_by: _,
            subject,
            details,
            status,
            progress: _,
            eta: _,
            blocked: _,
            note: _,
            trace_id,
            last_update_from: _,
            priority,
            deps,
            ignored_deps: _,
            claim_governed: _,
            reported_status,
            reported_owner,
            reported,
            snapshot_version: _,
            version,
            last_message_id: _,
            last_message_created_at: _,
            seq,
            governed,
        } = task;
        let Reported {
            blocked: reported_blocked,
            progress: reported_progress,
            eta: reported_eta,
            note: reported_note,
            by: reported_by,
            at: reported_at,
            unapplied: _,
        } = reported;
        let Governed {
            known: _,
            attributes,
            result,
            error,
            started_at: _,
            completed_at: _,
            epoch,
            claim: _,
            resources,
            shared,
            // Extra fields of the creator are not part of this protocol.
            extra: _,
        } = governed;
        let Attributes {
            requires_code_change,
            requires_approval,
        } = attributes;
        let urgent = priority != Priority::Normal;
        Task {
            schema_version: SCHEMA_VERSION,
            timestamps,
            id: task_id,
            title: subject.unwrap_or_default(),
            description: details.unwrap_or_default(),
            status: status.name(),
            owner,
            deps,
            failed_dependencies: unmet.failed,
            unknown_dependencies: unmet.unknown,
            requires_code_change,
            requires_approval,
            approval: None,
            lease,
            epoch,
            resources,
            shared,
            version,
            updated_at: milliseconds(updated_at),
            updated_seq: seq,
            priority: urgent.then(|| priority.name()),
            lease_expired,
            result,
            error,
            trace_id,
            reported_status: reported_status.map(Status::name),
            reported_owner,
            reported_blocked,
            reported_progress: reported_progress.as_ref().and_then(value),
            reported_eta: reported_eta.as_ref().and_then(value),
            reported_note,
            reported_by,
            reported_at: reported_at.map(milliseconds),
        }
    }
}

impl Task {
    /// Adds the last decision of a reviewer.
    #[must_use]
    pub fn with_approval(self, approval: Option<ApprovalShown>) -> Task {
        let approval = approval.map(|approval| Approval {
            status: approval.status,
            required: approval.required,
            reviewer: approval.reviewer,
            decision_reason: approval.decision_reason,
            decided_at: moment(&approval.decided_at),
        });
        Task { approval, ..self }
    }
}

impl Lease {
    fn new(claim: &Claim, epoch: u64) -> Lease {
        Lease {
            holder: claim.owner.clone(),
            epoch,
            expires_at: milliseconds(claim.leased_until),
        }
    }
}

impl Timestamps {
    fn new(task: &projections::Task) -> Timestamps {
        let ended = |status: Status| {
            let at = task.governed.completed_at;
            at.filter(|_| task.status == status).map(milliseconds)
        };
        Timestamps {
            created_at: milliseconds(task.created_at),
            started_at: task.governed.started_at.map(milliseconds),
            completed_at: ended(Status::Completed),
            failed_at: ended(Status::Failed),
            canceled_at: ended(Status::Canceled),
        }
    }
}
