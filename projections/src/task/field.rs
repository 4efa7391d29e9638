//! The fields of a task: own name, place and description, one row each.

use super::dialect::{ShowWhen, Times};
use super::part::{Entry, Part};
use super::{Task, UnmetDeps};
use crate::worker::ApprovalShown;
use schemars::{Schema, SchemaGenerator};
use serde::ser::SerializeMap;

/// Facts that an answer shows beside the stored fields of a task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskContext {
    /// Dependencies that will not be completed unless an agent acts.
    pub unmet: UnmetDeps,
    /// The last decision of a reviewer.
    pub approval: Option<ApprovalShown>,
    /// True if the lease of the claim ran out, but no event records the end yet.
    pub lease_expired: bool,
    /// Number of comments on the task.
    pub comments: u64,
}

/// Declares the fields of a task: name, place and description.
macro_rules! fields {
    (($task:ident, $context:ident) $($(#[doc = $about:literal])+ $field:ident $name:literal = $($place:ident).+;)*) => {
        /// A field of a task.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Field {$(
            $(#[doc = $about])+
            $field,
        )*}

        impl Field {
            /// All fields, in the order of the table.
            pub const ALL: &[Field] = &[$(Field::$field),*];

            /// Returns the field's own name. A dialect without a row for the field shows this name.
            pub fn name(self) -> &'static str {
                match self { $(Field::$field => $name,)* }
            }
            pub(super) fn about(self) -> &'static str {
                match self { $(Field::$field => concat!($($about),+),)* }
            }
            pub(super) fn is_set(self, $task: &Task, $context: &TaskContext) -> bool {
                match self { $(Field::$field => $($place).+.is_set(),)* }
            }
            pub(super) fn write<M: SerializeMap>(
                self,
                ($task, $context): (&Task, &TaskContext),
                (name, shown, times): (&str, ShowWhen, Times),
                map: &mut M,
            ) -> Result<(), M::Error> {
                match self {
                    $(Field::$field => map.serialize_entry(name, &Entry { part: &$($place).+, shown, times }),)*
                }
            }
            pub(super) fn read(self, json: &str, ($task, $context): (&mut Task, &mut TaskContext)) -> serde_json::Result<()> {
                match self { $(Field::$field => $($place).+.read(json),)* }
            }
            pub(super) fn schema(self, shown: ShowWhen, generator: &mut SchemaGenerator) -> Schema {
                let ($task, $context) = (&Task::default(), &TaskContext::default());
                match self { $(Field::$field => $($place).+.schema(shown, generator),)* }
            }
        }
    };
}

fields! { (task, context)
    /// Id of the task
    TaskId "task_id" = task.task_id;
    /// Subject, in a line
    Subject "subject" = task.subject;
    /// Description, at length
    Details "details" = task.details;
    /// Status
    Status "status" = task.status;
    /// Agent that works on the task, or to which the task was assigned
    Owner "owner" = task.owner;
    /// Agent that gave the task to its owner
    AssignedBy "assigned_by" = task.assigned_by;
    /// Priority
    Priority "priority" = task.priority;
    /// Progress, as its reporter wrote it
    Progress "progress" = task.progress;
    /// Expected time of completion, as its reporter wrote it
    Eta "eta" = task.eta;
    /// True if a message reported the task blocked
    Blocked "blocked" = task.blocked;
    /// The last note
    Note "note" = task.note;
    /// Tasks that this task waits for
    Deps "deps" = task.deps;
    /// Dependencies that would have closed a cycle, and were left out
    IgnoredDeps "ignored_deps" = task.ignored_deps;
    /// Dependencies that failed or were canceled; only while the task waits
    FailedDependencies "failed_dependencies" = context.unmet.failed;
    /// Dependencies that are no tasks of the team; only while the task waits
    UnknownDependencies "unknown_dependencies" = context.unmet.unknown;
    /// Trace that the task belongs to
    TraceId "trace_id" = task.trace_id;
    /// Time of creation, or of the first message applied
    CreatedAt "created_at" = task.created_at;
    /// Time of the last update
    UpdatedAt "updated_at" = task.updated_at;
    /// Sender of the last update applied
    LastUpdateFrom "last_update_from" = task.last_update_from;
    /// Status that a message reported for a claim-governed task; it was not applied
    ReportedStatus "reported_status" = task.reported_status;
    /// Owner that an assignment named for a claim-governed task; it was not applied
    ReportedOwner "reported_owner" = task.reported_owner;
    /// Sender of the reported status, if another agent held the task
    ReportedStatusBy "reported_status_by" = task.reported.status_by;
    /// True if the holder of a claim-governed task reported the task as blocked
    ReportedBlocked "reported_blocked" = task.reported.blocked;
    /// Progress that a message reported for a claim-governed task
    ReportedProgress "reported_progress" = task.reported.progress;
    /// Expected time of completion that a message reported for a claim-governed task
    ReportedEta "reported_eta" = task.reported.eta;
    /// Last note that a message reported for a claim-governed task
    ReportedNote "reported_note" = task.reported.note;
    /// Sender of the last report on a claim-governed task; while an agent holds the task, only this agent's reports count
    ReportedBy "reported_by" = task.reported.by;
    /// Creation time of the last report on a claim-governed task
    ReportedAt "reported_at" = task.reported.at;
    /// True if completing the task needs a change of code
    RequiresCodeChange "requires_code_change" = task.governed.attributes.requires_code_change;
    /// If true, the task is completed only after a reviewer approved it
    RequiresApproval "requires_approval" = task.governed.attributes.requires_approval;
    /// The last decision of a reviewer on the task
    Approval "approval" = context.approval;
    /// Result of the completion
    Result "result" = task.governed.result;
    /// Reason of the failure
    Error "error" = task.governed.error;
    /// The live claim
    Claim "claim" = task.governed.claim;
    /// True if the lease of the claim ran out, but no event records this yet. Only in answers, not in the view file
    LeaseExpired "lease_expired" = context.lease_expired;
    /// Number of claims that the task has had
    Epoch "epoch" = task.governed.epoch;
    /// Time of the last claim
    StartedAt "started_at" = task.governed.started_at;
    /// Time at which the task was completed, failed or canceled
    CompletedAt "completed_at" = task.governed.completed_at;
    /// Labels
    Labels "labels" = task.governed.plan.labels;
    /// Time by which the task is to be completed
    DueAt "due_at" = task.governed.plan.due_at;
    /// Time before which the task is not offered
    DeferUntil "defer_until" = task.governed.plan.defer_until;
    /// Parent task
    Parent "parent" = task.governed.plan.parent;
    /// Numbers of child tasks: all, unfinished and completed. The task is not offered while a child is unfinished. Only in answers, not in
    /// the view file
    Children "children" = task.governed.plan.children;
    /// Number of comments on the task. In answers only, never in the view file
    Comments "comments" = context.comments;
    /// Paths that the holder may write, relative to the repository
    Resources "resources" = task.governed.resources;
    /// True if other agents may hold the same paths at the same time
    Shared "shared" = task.governed.shared;
    /// Further fields that the creator gave
    Extra "extra" = task.governed.extra;
    /// Number of applied mutations
    Version "version" = task.version;
    /// Number of applied task messages
    SnapshotVersion "snapshot_version" = task.snapshot_version;
    /// Id of the last message applied
    LastMessageId "last_message_id" = task.last_message_id;
    /// Time of the last message applied
    LastMessageCreatedAt "last_message_created_at" = task.last_message_created_at;
    /// Seq of the last event that changed the task or reported about it
    Seq "seq" = task.seq;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::dialect::{Dialect, FieldRow, camel_case, micros};
    use crate::task::view::VIEW;
    use crate::task::{Attributes, Governed, Plan, Reported};

    // A new field does not compile here until it has a row in `fields!`, or `_` if no dialect shows it.
    #[test]
    fn every_stored_field_has_a_row() {
        use Field as F;
        macro_rules! rows {
            ($of:ident { $($field:ident $row:expr,)* } { $($hidden:ident,)* }) => {{
                let $of { $($field: _,)* $($hidden: _,)* } = &$of::default();
                let rows: Vec<F> = vec![$($row),*];
                rows
            }};
        }
        let task = rows!(Task {
            task_id F::TaskId, created_at F::CreatedAt, updated_at F::UpdatedAt, owner F::Owner, assigned_by F::AssignedBy,
            subject F::Subject, details F::Details, status F::Status, progress F::Progress, eta F::Eta, blocked F::Blocked,
            note F::Note, trace_id F::TraceId, last_update_from F::LastUpdateFrom, priority F::Priority, deps F::Deps,
            ignored_deps F::IgnoredDeps, reported_status F::ReportedStatus, reported_owner F::ReportedOwner,
            snapshot_version F::SnapshotVersion, version F::Version, last_message_id F::LastMessageId,
            last_message_created_at F::LastMessageCreatedAt, seq F::Seq,
        } { claim_governed, reported, governed, });
        let reported = rows!(Reported {
            blocked F::ReportedBlocked, progress F::ReportedProgress, eta F::ReportedEta, note F::ReportedNote,
            by F::ReportedBy, at F::ReportedAt, status_by F::ReportedStatusBy,
        } { status_at, unapplied, });
        let governed = rows!(Governed {
            result F::Result, error F::Error, started_at F::StartedAt, completed_at F::CompletedAt, epoch F::Epoch,
            claim F::Claim, resources F::Resources, shared F::Shared, extra F::Extra,
        } { known, attributes, plan, });
        let plan = rows!(Plan {
            labels F::Labels, due_at F::DueAt, defer_until F::DeferUntil, parent F::Parent, children F::Children,
        } {});
        let attributes = rows!(Attributes {
            requires_code_change F::RequiresCodeChange, requires_approval F::RequiresApproval,
        } {});
        let context = [
            F::FailedDependencies,
            F::UnknownDependencies,
            F::Approval,
            F::LeaseExpired,
            F::Comments,
        ];
        let stored = [task, reported, governed, attributes, plan, context.to_vec()].concat();
        for field in Field::ALL {
            assert!(stored.contains(field), "{field:?}");
        }
        assert_eq!(stored.len(), Field::ALL.len());
    }

    #[test]
    fn a_dialect_shows_each_field_or_leaves_it_out() {
        for field in Field::ALL {
            let left_out = VIEW.left_out().contains(field);
            assert_eq!(VIEW.shows(*field), !left_out, "{field:?}");
        }
    }

    #[test]
    fn a_field_without_a_row_appears_under_its_own_name_in_the_place_of_the_rest() {
        let others: &'static [Field] = Box::leak(
            Field::ALL
                .iter()
                .copied()
                .filter(|field| !matches!(field, Field::TaskId | Field::TraceId | Field::Seq))
                .collect(),
        );
        const TABLE: &[FieldRow] = &[
            FieldRow::new("id", Field::TaskId, ShowWhen::Always),
            FieldRow::rest(),
            FieldRow::number("n", 1, ""),
        ];
        let dialect = Dialect::new(TABLE, others, micros, camel_case);
        assert_eq!(
            dialect.names().collect::<Vec<_>>(),
            ["id", "traceId", "seq", "n"]
        );
    }
}
