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

/// The version of every record's shape.
pub const SCHEMA_VERSION: &str = "1.0.0";

/// A moment as this surface shows it, from the text that a command answers with.
pub fn moment(text: &str) -> String {
    Timestamp::parse(text).map_or_else(|_| text.to_owned(), milliseconds)
}

/// A task.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// Always `1.0.0`
    schema_version: &'static str,
    /// Its id
    pub id: String,
    /// What it is, in a line
    title: String,
    /// What it is, at length
    description: String,
    /// Its state
    #[schemars(with = "Status")]
    status: &'static str,
    /// Who works on it, or did
    owner: Option<String>,
    /// The tasks it waits for
    deps: Vec<String>,
    /// Those of them that failed or were canceled, so that it waits in vain unless somebody steps in; only while it waits
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failed_dependencies: Vec<String>,
    /// Those of them that do not exist; only while it waits
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unknown_dependencies: Vec<String>,
    /// Whether it cannot be done without changing code
    #[serde(skip_serializing_if = "Option::is_none")]
    requires_code_change: Option<bool>,
    /// If true, it is completed only after a reviewer approved it
    #[serde(skip_serializing_if = "Option::is_none")]
    requires_approval: Option<bool>,
    /// The last decision of a reviewer on it
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<Approval>,
    /// The paths that its holder may write to
    resources: Vec<String>,
    /// The claim under which somebody works on it
    pub lease: Option<Lease>,
    /// How many claims it has had
    epoch: u64,
    /// When it moved
    timestamps: Timestamps,
    /// Counts every applied mutation
    version: u64,
    /// How urgent it is, if not `normal`
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Priority>")]
    priority: Option<&'static str>,
    /// Whether others may hold the same paths
    #[serde(skip_serializing_if = "Option::is_none")]
    shared: Option<bool>,
    /// When it was last updated
    #[schemars(with = "Timestamp")]
    updated_at: String,
    /// Seq of the event that changed it last, reports included
    updated_seq: u64,
    /// Whether the lease of its last claim ran out, recorded or not, and nobody claimed it since
    lease_expired: bool,
    /// What its completion brought
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<String>,
    /// Why it failed
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// The story it belongs to
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_id: Option<String>,
    /// What a message said of its status, which moved nothing
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Status>")]
    reported_status: Option<&'static str>,
    /// Whom a message gave it to, which moved nothing
    #[serde(skip_serializing_if = "Option::is_none")]
    reported_owner: Option<String>,
    /// Whether a message reported it blocked, which moved nothing
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    reported_blocked: bool,
    /// How far it is, as a message reported it
    #[serde(skip_serializing_if = "Option::is_none")]
    reported_progress: Option<Value>,
    /// When it will be done, as a message reported it
    #[serde(skip_serializing_if = "Option::is_none")]
    reported_eta: Option<Value>,
    /// The last note that a message left
    #[serde(skip_serializing_if = "Option::is_none")]
    reported_note: Option<String>,
    /// Who sent the last message that reported something
    #[serde(skip_serializing_if = "Option::is_none")]
    reported_by: Option<String>,
    /// The time of that message
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Timestamp>")]
    reported_at: Option<String>,
}

/// The decision of a reviewer on a task.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// The decision
    status: ApprovalStatus,
    /// True if the task requires an approval
    required: bool,
    /// Reviewer of the last decision
    reviewer: String,
    /// Why
    decision_reason: String,
    /// When
    #[schemars(with = "Timestamp")]
    decided_at: String,
}

/// A claim that counts for a time.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Lease {
    /// Who has it
    holder: String,
    /// The number of the claim, which is presented to renew, complete or fail the task
    epoch: u64,
    /// It counts before that moment
    #[schemars(with = "Timestamp")]
    expires_at: String,
}

/// The moments of a task's life.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Timestamps {
    /// When it came to be
    #[schemars(with = "Timestamp")]
    created_at: String,
    /// When it was last claimed
    #[schemars(with = "Option<Timestamp>")]
    started_at: Option<String>,
    /// When it was completed
    #[schemars(with = "Option<Timestamp>")]
    completed_at: Option<String>,
    /// When it failed
    #[schemars(with = "Option<Timestamp>")]
    failed_at: Option<String>,
    /// When it was canceled
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Timestamp>")]
    canceled_at: Option<String>,
}

impl Task {
    /// A task as it stands at `now`, with its unmet dependencies.
    // Names every field of a task: one that is added has to be shown here, or left out on purpose.
    pub fn of(task: projections::Task, unmet: UnmetDeps, now: Timestamp) -> Task {
        let lease = task
            .claim()
            .map(|claim| Lease::of(claim, task.governed.epoch));
        let last = task.governed.claim.as_ref().map(|claim| claim.state);
        let lease_expired = match task.status.is_final() {
            true => false,
            false => task.lease_expired(now) || last == Some(ClaimState::Expired),
        };
        let timestamps = Timestamps::of(&task);
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
            // A creator's own fields are not part of this protocol.
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
    /// The task with the last decision on it.
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
    fn of(claim: &Claim, epoch: u64) -> Lease {
        Lease {
            holder: claim.owner.clone(),
            epoch,
            expires_at: milliseconds(claim.leased_until),
        }
    }
}

impl Timestamps {
    fn of(task: &projections::Task) -> Timestamps {
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
