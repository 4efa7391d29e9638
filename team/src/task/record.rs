//! A task in the fields of the mutation contract.

use crate::operation::prelude::*;
use crate::projections::task::dialect::ShowWhen::{Always, IfSet, OrEmpty};
use crate::projections::task::dialect::{Dialect, FieldRow as Row, micros, same_name};
use crate::projections::task::field::Field;
use crate::projections::task::{TaskContext, UnmetDeps};
use crate::projections::worker::ApprovalShown;
use schemars::{Schema, SchemaGenerator};
use serde::{Deserializer, Serializer};
use std::ops::Deref;

/// Field names of a task in the team API: first the fields of the contract, then the creator's own fields.
pub static TEAM_API: Dialect = Dialect::new(
    &[
        Row::new("id", Field::TaskId, Always),
        Row::new("subject", Field::Subject, OrEmpty),
        Row::new("description", Field::Details, OrEmpty),
        Row::new("status", Field::Status, Always),
        Row::new("requires_code_change", Field::RequiresCodeChange, IfSet),
        Row::new("requires_approval", Field::RequiresApproval, IfSet),
        Row::new("approval", Field::Approval, IfSet),
        Row::new("priority", Field::Priority, IfSet),
        Row::new("owner", Field::Owner, IfSet),
        Row::new("result", Field::Result, IfSet),
        Row::new("error", Field::Error, IfSet),
        Row::new("blocked_by", Field::Deps, IfSet),
        Row::new("depends_on", Field::Deps, Always),
        Row::new("failed_dependencies", Field::FailedDependencies, IfSet),
        Row::new("unknown_dependencies", Field::UnknownDependencies, IfSet),
        Row::new("version", Field::Version, Always),
        Row::new("labels", Field::Labels, IfSet),
        Row::new("due_at", Field::DueAt, IfSet),
        Row::new("defer_until", Field::DeferUntil, IfSet),
        Row::new("parent", Field::Parent, IfSet),
        Row::new("children", Field::Children, IfSet),
        Row::new("comments", Field::Comments, IfSet),
        Row::new("resources", Field::Resources, IfSet),
        Row::new("shared", Field::Shared, IfSet),
        Row::new("claim", Field::Claim, IfSet),
        Row::new("lease_expired", Field::LeaseExpired, IfSet),
        Row::new("epoch", Field::Epoch, Always),
        Row::new("trace_id", Field::TraceId, IfSet),
        Row::new("reported_status", Field::ReportedStatus, IfSet),
        Row::new("reported_owner", Field::ReportedOwner, IfSet),
        Row::new("reported_status_by", Field::ReportedStatusBy, IfSet),
        Row::new("reported_blocked", Field::ReportedBlocked, IfSet),
        Row::new("reported_progress", Field::ReportedProgress, IfSet),
        Row::new("reported_eta", Field::ReportedEta, IfSet),
        Row::new("reported_note", Field::ReportedNote, IfSet),
        Row::new("reported_by", Field::ReportedBy, IfSet),
        Row::new("reported_at", Field::ReportedAt, IfSet),
        Row::new("created_at", Field::CreatedAt, Always),
        Row::new("updated_at", Field::UpdatedAt, Always),
        Row::new("updated_seq", Field::Seq, Always),
        Row::new("completed_at", Field::CompletedAt, IfSet),
        Row::rest(),
        Row::flatten(Field::Extra),
    ],
    // Leaves out fields of the message protocol, which has no claims. Also leaves out the start
    // time, which the contract does not have.
    &[
        Field::AssignedBy,
        Field::Progress,
        Field::Eta,
        Field::Blocked,
        Field::Note,
        Field::IgnoredDeps,
        Field::LastUpdateFrom,
        Field::StartedAt,
        Field::SnapshotVersion,
        Field::LastMessageId,
        Field::LastMessageCreatedAt,
    ],
    micros,
    same_name,
);

/// A task at a point in time, with its derived facts.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskRecord {
    /// The task.
    pub task: Task,
    /// Facts that are derived from the state, and that answers show with the task.
    pub context: TaskContext,
}

impl Deref for TaskRecord {
    type Target = Task;
    fn deref(&self) -> &Task {
        &self.task
    }
}

impl Serialize for TaskRecord {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        TEAM_API.serialize(&self.task, &self.context, to)
    }
}

impl<'de> Deserialize<'de> for TaskRecord {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<TaskRecord, D::Error> {
        let (task, context) = TEAM_API.read(from)?;
        Ok(TaskRecord { task, context })
    }
}

impl JsonSchema for TaskRecord {
    fn schema_name() -> Cow<'static, str> {
        "TaskRecord".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let about = "A task: the contract's fields, then those that its creator gave";
        TEAM_API.schema(about, generator)
    }
}

/// Field names that answers and views use for facts about a task. A creator's own fields must not have these names. The input of
/// `create-task` has other names for these facts.
pub const RESERVED: [&str; 45] = [
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
    "children",
    "comments",
    "reported_status_by",
    "schema_version",
    "schemaVersion",
    "last_message_id",
    "last_message_created_at",
    "blocked",
    "extra",
];

impl TaskRecord {
    /// Returns the record of a task at `now`. For `unmet` see [`crate::task::blocking::unmet_dependencies`].
    pub fn at(task: Task, unmet: UnmetDeps, now: Timestamp) -> TaskRecord {
        let context = TaskContext {
            unmet,
            approval: None,
            lease_expired: task.lease_expired(now),
            comments: 0,
        };
        TaskRecord { task, context }
    }

    /// Adds the last approval decision to the record.
    #[must_use]
    pub fn with_approval(mut self, approval: Option<ApprovalShown>) -> TaskRecord {
        self.context.approval = approval;
        self
    }

    /// Adds the number of comments to the record.
    #[must_use]
    pub fn with_comments(mut self, comments: u64) -> TaskRecord {
        self.context.comments = comments;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_team_api_shows_each_field_or_leaves_it_out() {
        for field in Field::ALL {
            let left_out = TEAM_API.left_out().contains(field);
            assert_eq!(TEAM_API.shows(*field), !left_out, "{field:?}");
        }
    }

    #[test]
    fn no_field_of_a_creator_can_have_a_name_of_ours() {
        let inputs = [
            "subject",
            "description",
            "owner",
            "blocked_by",
            "priority",
            "resources",
            "shared",
            "requires_code_change",
            "requires_approval",
            "labels",
            "due_at",
            "defer_until",
            "parent",
        ];
        for name in TEAM_API.names() {
            assert!(RESERVED.contains(&name) || inputs.contains(&name), "{name}");
        }
    }
}
