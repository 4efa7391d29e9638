//! A task as the mutation contract shows it.

use crate::operation::prelude::*;
use crate::projections::task::{Attributes, Governed, Reported, UnmetDeps};
use crate::projections::worker::ApprovalShown;

/// A task: the contract's fields, then what its creator said beside them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskRecord {
    /// Its id
    pub id: String,
    /// What it is, in a line
    pub subject: String,
    /// What it is, at length
    pub description: String,
    /// Its state
    #[schemars(with = "Status")]
    pub status: String,
    /// Its attributes
    #[serde(flatten)]
    pub attributes: Attributes,
    /// The last decision of a reviewer on it
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalShown>,
    /// How urgent it is, if not `normal`
    #[schemars(with = "Option<Priority>")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<String>,
    /// Who works on it, or is to
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// What its completion brought
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Why it failed
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The tasks it waits for, if any
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked_by: Vec<String>,
    /// The same, always there
    pub depends_on: Vec<String>,
    /// Those of them that failed or were canceled, so that it waits in vain unless somebody steps in; only while it waits
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_dependencies: Vec<String>,
    /// Those of them that do not exist; only while it waits
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_dependencies: Vec<String>,
    /// Counts every applied mutation
    pub version: u64,
    /// The paths that its holder may write, relative to the repository
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<String>,
    /// Whether others may hold the same paths meanwhile
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<bool>,
    /// Who works on it under a lease
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<ClaimRecord>,
    /// Whether the lease of that claim ran out, which no event says yet
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lease_expired: bool,
    /// How many claims it has had
    pub epoch: u64,
    /// The story it belongs to
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// What a message said of its status, which moved nothing
    #[schemars(with = "Option<Status>")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported_status: Option<String>,
    /// Whom a message gave it to, which moved nothing
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported_owner: Option<String>,
    /// Whether a message reported it blocked, which moved nothing
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reported_blocked: bool,
    /// How far it is, as a message reported it
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported_progress: Option<Value>,
    /// When it will be done, as a message reported it
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported_eta: Option<Value>,
    /// The last note that a message left
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported_note: Option<String>,
    /// Who sent the last message that reported something
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported_by: Option<String>,
    /// The time of that message
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported_at: Option<Timestamp>,
    /// When it came to be
    pub created_at: Timestamp,
    /// When it was last updated
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
    /// Seq of the event that changed it last, reports included
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_seq: Option<u64>,
    /// When it was completed, failed or canceled
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Timestamp>,
    /// What else its creator said of it
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// `{owner, token?, leased_until}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimRecord {
    /// Who made it
    pub owner: String,
    /// What its holder presents; an agent on another machine sees that of its own claims alone
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub token: String,
    /// It counts before that moment
    pub leased_until: Timestamp,
}

/// Names that say something of a task in some answer or view, so that no field of a creator's own may have them. What a
/// creator does say has other names (see `create-task`).
pub const RESERVED: [&str; 42] = [
    "id",
    "status",
    "result",
    "error",
    "approval",
    "depends_on",
    "deps",
    "failed_dependencies",
    "unknown_dependencies",
    "version",
    "snapshot_version",
    "claim",
    "claim_token",
    "claimToken",
    "lease",
    "lease_ms",
    "leased_until",
    "lease_expired",
    "epoch",
    "seq",
    "trace_id",
    "reported_status",
    "reported_owner",
    "reported_blocked",
    "reported_progress",
    "reported_eta",
    "reported_note",
    "reported_by",
    "reported_at",
    "created_at",
    "updated_at",
    "updated_seq",
    "started_at",
    "completed_at",
    "assigned_by",
    "claimed_by",
    "schema_version",
    "schemaVersion",
    "last_message_id",
    "last_message_created_at",
    "blocked",
    "extra",
];

/// JSON as the answers of programs hold it.
pub fn value(json: &Json) -> Option<Value> {
    serde_json::from_str(json.as_str()).ok()
}

impl TaskRecord {
    /// A task as it stands at `now`, with its unmet dependencies (see [`crate::task::blocking::unmet_dependencies`]).
    // Names every field of a task: one that is added has to be shown here, or left out on purpose.
    pub fn at(task: Task, unmet: UnmetDeps, now: Timestamp) -> TaskRecord {
        let claim = task.claim().map(|claim| ClaimRecord {
            owner: claim.owner.clone(),
            token: claim.token.clone(),
            leased_until: claim.leased_until,
        });
        let lease_expired = task.lease_expired(now);
        let Task {
            task_id,
            created_at,
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
            completed_at,
            epoch,
            claim: _,
            resources,
            shared,
            extra,
        } = governed;
        let extra = extra.and_then(|extra| serde_json::from_str(extra.as_str()).ok());
        let urgent = priority != Priority::Normal;
        TaskRecord {
            id: task_id,
            subject: subject.unwrap_or_default(),
            description: details.unwrap_or_default(),
            status: status.name().to_owned(),
            attributes,
            approval: None,
            priority: urgent.then(|| priority.name().to_owned()),
            owner,
            result,
            error,
            blocked_by: deps.clone(),
            depends_on: deps,
            failed_dependencies: unmet.failed,
            unknown_dependencies: unmet.unknown,
            version,
            resources,
            shared,
            claim,
            lease_expired,
            epoch,
            trace_id,
            reported_status: reported_status.map(|status| status.name().to_owned()),
            reported_owner,
            reported_blocked,
            reported_progress: reported_progress.as_ref().and_then(value),
            reported_eta: reported_eta.as_ref().and_then(value),
            reported_note,
            reported_by,
            reported_at,
            created_at,
            updated_at: Some(updated_at),
            updated_seq: Some(seq),
            completed_at,
            extra: extra.unwrap_or_default(),
        }
        .without_shadowed()
    }

    /// The task with the last decision on it.
    #[must_use]
    pub fn with_approval(self, approval: Option<ApprovalShown>) -> TaskRecord {
        TaskRecord { approval, ..self }.without_shadowed()
    }

    /// Leaves out fields of its creator's own whose names later became ours, if ours are shown.
    fn without_shadowed(mut self) -> TaskRecord {
        if self.extra.is_empty() {
            return self;
        }
        for name in self.attributes.to_map().keys() {
            self.extra.remove(name);
        }
        if self.approval.is_some() {
            self.extra.remove("approval");
        }
        self
    }
}
