//! Tasks in the form of this API. The order of the fields is part of the form.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use teamlog_team::api::milliseconds;
use teamlog_team::engine::Timestamp;
use teamlog_team::projections::task::dialect::ShowWhen::{Always, IfSet, OrEmpty};
use teamlog_team::projections::task::dialect::{Dialect, FieldRow as Row, Special, camel_case};
use teamlog_team::projections::task::field::Field;
use teamlog_team::projections::task::{Claim, ClaimState, TaskContext};
use teamlog_team::projections::worker::ApprovalShown;
use teamlog_team::projections::worker::supervision::ApprovalStatus;
use teamlog_team::projections::{self, Status};
use teamlog_team::task::record::TaskRecord;

/// Version of the format of all records.
pub const SCHEMA_VERSION: &str = "1.0.0";

/// Converts a time of a command's answer to the format of this API.
pub fn moment(text: &str) -> String {
    Timestamp::parse(text).map_or_else(|_| text.to_owned(), milliseconds)
}

/// Field names of this API.
pub static HTTP: Dialect = Dialect::new(
    &[
        Row::text("schemaVersion", SCHEMA_VERSION, "Always `1.0.0`"),
        Row::new("id", Field::TaskId, Always),
        Row::new("title", Field::Subject, OrEmpty),
        Row::new("description", Field::Details, OrEmpty),
        Row::new("status", Field::Status, Always),
        Row::new("owner", Field::Owner, Always),
        Row::new("deps", Field::Deps, Always),
        Row::new("failedDependencies", Field::FailedDependencies, IfSet),
        Row::new("unknownDependencies", Field::UnknownDependencies, IfSet),
        Row::new("requiresCodeChange", Field::RequiresCodeChange, IfSet),
        Row::new("requiresApproval", Field::RequiresApproval, IfSet),
        Row::special(
            "approval",
            Special {
                of: &[Field::Approval],
                value: |_, context| raw(&Approval::from(context.approval.as_ref()?)),
                schema: |generator| generator.subschema_for::<Option<Approval>>(),
                reads: None,
                optional: true,
            },
        ),
        Row::new("resources", Field::Resources, Always),
        Row::special(
            "lease",
            Special {
                of: &[Field::Claim, Field::Epoch],
                value: |task, _| raw(&Lease::of_task(task)),
                schema: |generator| generator.subschema_for::<Option<Lease>>(),
                reads: None,
                optional: false,
            },
        ),
        Row::new("epoch", Field::Epoch, Always),
        Row::special(
            "timestamps",
            Special {
                of: &[Field::CreatedAt, Field::StartedAt, Field::CompletedAt],
                value: |task, _| raw(&Timestamps::from(task)),
                schema: |generator| generator.subschema_for::<Timestamps>(),
                reads: None,
                optional: false,
            },
        ),
        Row::new("version", Field::Version, Always),
        Row::new("priority", Field::Priority, IfSet),
        Row::new("shared", Field::Shared, IfSet),
        Row::new("labels", Field::Labels, IfSet),
        Row::new("dueAt", Field::DueAt, IfSet),
        Row::new("deferUntil", Field::DeferUntil, IfSet),
        Row::new("parent", Field::Parent, IfSet),
        Row::new("children", Field::Children, IfSet),
        Row::new("comments", Field::Comments, IfSet),
        Row::new("updatedAt", Field::UpdatedAt, Always),
        Row::new("updatedSeq", Field::Seq, Always),
        Row::special(
            "leaseExpired",
            Special {
                of: &[Field::LeaseExpired],
                value: |task, context| raw(&lease_expired(task, context)),
                schema: |generator| generator.subschema_for::<bool>(),
                reads: None,
                optional: false,
            },
        ),
        Row::new("result", Field::Result, IfSet),
        Row::new("error", Field::Error, IfSet),
        Row::new("traceId", Field::TraceId, IfSet),
        Row::new("reportedStatus", Field::ReportedStatus, IfSet),
        Row::new("reportedOwner", Field::ReportedOwner, IfSet),
        Row::new("reportedStatusBy", Field::ReportedStatusBy, IfSet),
        Row::new("reportedBlocked", Field::ReportedBlocked, IfSet),
        Row::new("reportedProgress", Field::ReportedProgress, IfSet),
        Row::new("reportedEta", Field::ReportedEta, IfSet),
        Row::new("reportedNote", Field::ReportedNote, IfSet),
        Row::new("reportedBy", Field::ReportedBy, IfSet),
        Row::new("reportedAt", Field::ReportedAt, IfSet),
    ],
    // Not shown: properties of the message protocol, which has no claims, and additional fields from the creator of the task.
    &[
        Field::AssignedBy,
        Field::Progress,
        Field::Eta,
        Field::Blocked,
        Field::Note,
        Field::IgnoredDeps,
        Field::LastUpdateFrom,
        Field::Extra,
        Field::SnapshotVersion,
        Field::LastMessageId,
        Field::LastMessageCreatedAt,
    ],
    milliseconds,
    camel_case,
);

/// A task.
#[derive(Debug)]
pub struct Task(pub TaskRecord);

impl Task {
    /// Returns the lease of the task if the lease has not expired.
    pub fn lease(&self) -> Option<Lease> {
        Lease::of_task(&self.0.task)
    }
}

impl Serialize for Task {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        HTTP.serialize(&self.0.task, &self.0.context, to)
    }
}

impl JsonSchema for Task {
    fn schema_name() -> Cow<'static, str> {
        "Task".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        HTTP.schema("A task", generator)
    }
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
    /// Time of creation
    #[schemars(with = "Timestamp")]
    created_at: String,
    /// Time of the last claim
    #[schemars(with = "Option<Timestamp>")]
    started_at: Option<String>,
    /// Time of completion
    #[schemars(with = "Option<Timestamp>")]
    completed_at: Option<String>,
    /// Time of the failure
    #[schemars(with = "Option<Timestamp>")]
    failed_at: Option<String>,
    /// Time of cancellation
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Timestamp>")]
    canceled_at: Option<String>,
}

fn raw(value: &impl Serialize) -> Option<Box<RawValue>> {
    serde_json::value::to_raw_value(value).ok()
}

/// Returns true if the lease of the last claim has expired and no agent has claimed the task since. Does not depend
/// on an event that records the expiry.
fn lease_expired(task: &projections::Task, context: &TaskContext) -> bool {
    let last = task.governed.claim.as_ref().map(|claim| claim.state);
    !task.status.is_final() && (context.lease_expired || last == Some(ClaimState::Expired))
}

impl From<&ApprovalShown> for Approval {
    fn from(approval: &ApprovalShown) -> Approval {
        Approval {
            status: approval.status,
            required: approval.required,
            reviewer: approval.reviewer.clone(),
            decision_reason: approval.decision_reason.clone(),
            decided_at: moment(&approval.decided_at),
        }
    }
}

impl Lease {
    fn of_task(task: &projections::Task) -> Option<Lease> {
        let claim = task.claim()?;
        Some(Lease::new(claim, task.governed.epoch))
    }

    fn new(claim: &Claim, epoch: u64) -> Lease {
        Lease {
            holder: claim.owner.clone(),
            epoch,
            expires_at: milliseconds(claim.leased_until),
        }
    }
}

impl From<&projections::Task> for Timestamps {
    fn from(task: &projections::Task) -> Timestamps {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_shows_each_field_or_leaves_it_out() {
        for field in Field::ALL {
            let left_out = HTTP.left_out().contains(field);
            assert_eq!(HTTP.shows(*field), !left_out, "{field:?}");
        }
    }
}
