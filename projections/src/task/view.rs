//! `tasks/<id>.json`: one stored task, the superset of its renderings.

use super::dialect::ShowWhen::{Always, IfSet};
use super::dialect::{Dialect, FieldRow as Row, Special, micros, same_name};
use super::field::{Field, TaskContext};
use crate::files::Walk;
use crate::prelude::*;
use crate::task::{self, CONFLICT_POLICY, Children, Task};
use schemars::{Schema, SchemaGenerator};
use serde::{Deserializer, Serializer};
use std::borrow::Cow;

pub(crate) const DIR: &str = "tasks";

/// The view file. The fields have the names of the message protocol and of the team API. Fields that the message protocol
/// always has are present even if they have no value.
pub static VIEW: Dialect = Dialect::new(
    &[
        Row::number("schema_version", 1, "Version of this record"),
        Row::text("schemaVersion", "1.0.0", "Version of this record, as text"),
        Row::new("id", Field::TaskId, Always),
        Row::new("task_id", Field::TaskId, Always),
        Row::new("subject", Field::Subject, Always),
        Row::new("title", Field::Subject, Always),
        Row::new("details", Field::Details, Always),
        Row::new("description", Field::Details, Always),
        Row::new("status", Field::Status, Always),
        Row::new("owner", Field::Owner, Always),
        Row::new("assigned_by", Field::AssignedBy, Always),
        Row::new("priority", Field::Priority, Always),
        Row::new("progress", Field::Progress, Always),
        Row::new("eta", Field::Eta, Always),
        Row::new("blocked", Field::Blocked, Always),
        Row::new("note", Field::Note, Always),
        Row::new("deps", Field::Deps, Always),
        Row::new("depends_on", Field::Deps, Always),
        Row::new("blocked_by", Field::Deps, Always),
        Row::new("ignored_deps", Field::IgnoredDeps, IfSet),
        Row::new("trace_id", Field::TraceId, Always),
        Row::new("created_at", Field::CreatedAt, Always),
        Row::new("updated_at", Field::UpdatedAt, Always),
        Row::new("last_update_from", Field::LastUpdateFrom, Always),
        Row::new("reported_status", Field::ReportedStatus, IfSet),
        Row::new("reported_owner", Field::ReportedOwner, IfSet),
        Row::new("reported_status_by", Field::ReportedStatusBy, IfSet),
        Row::new("reported_blocked", Field::ReportedBlocked, IfSet),
        Row::new("reported_progress", Field::ReportedProgress, IfSet),
        Row::new("reported_eta", Field::ReportedEta, IfSet),
        Row::new("reported_note", Field::ReportedNote, IfSet),
        Row::new("reported_by", Field::ReportedBy, IfSet),
        Row::new("reported_at", Field::ReportedAt, IfSet),
        Row::new("requires_code_change", Field::RequiresCodeChange, IfSet),
        Row::new("requires_approval", Field::RequiresApproval, IfSet),
        Row::new("result", Field::Result, IfSet),
        Row::new("error", Field::Error, IfSet),
        Row::new("claim", Field::Claim, IfSet),
        Row::new("epoch", Field::Epoch, IfSet),
        Row::new("started_at", Field::StartedAt, IfSet),
        Row::new("completed_at", Field::CompletedAt, IfSet),
        Row::new("labels", Field::Labels, IfSet),
        Row::new("due_at", Field::DueAt, IfSet),
        Row::new("defer_until", Field::DeferUntil, IfSet),
        Row::new("parent", Field::Parent, IfSet),
        Row::new("children", Field::Children, IfSet),
        Row::new("resources", Field::Resources, IfSet),
        Row::new("shared", Field::Shared, IfSet),
        Row::rest(),
        Row::new("extra", Field::Extra, IfSet),
        Row::new("version", Field::Version, Always),
        Row::new("snapshot_version", Field::SnapshotVersion, Always),
        Row::special(
            "last_message_id",
            Special {
                of: &[Field::LastMessageId],
                value: |task, _| raw(&named(task).then_some(&task.last_message_id)),
                schema: |generator| generator.subschema_for::<Option<String>>(),
                reads: Some(Field::LastMessageId),
                optional: false,
            },
        ),
        Row::special(
            "last_message_created_at",
            Special {
                of: &[Field::LastMessageCreatedAt],
                value: |task, _| raw(&named(task).then_some(task.last_message_created_at)),
                schema: |generator| generator.subschema_for::<Option<Timestamp>>(),
                reads: Some(Field::LastMessageCreatedAt),
                optional: false,
            },
        ),
        Row::text(
            "snapshot_conflict_policy",
            CONFLICT_POLICY,
            "Rule for messages that arrive out of order",
        ),
        Row::new("lease_expired", Field::LeaseExpired, IfSet),
        Row::new("seq", Field::Seq, Always),
    ],
    // These fields are computed from other events; answers show them beside the task.
    &[
        Field::FailedDependencies,
        Field::UnknownDependencies,
        Field::Approval,
        Field::Comments,
    ],
    micros,
    same_name,
);

/// Returns true if any message named the task.
fn named(task: &Task) -> bool {
    !task.last_message_id.is_empty() || task.last_message_created_at.micros() != 0
}

fn raw(value: &impl Serialize) -> Option<Box<RawValue>> {
    serde_json::value::to_raw_value(value).ok()
}

/// A task and its context, serialised as the view file.
struct Viewed<'a>(&'a Task, &'a TaskContext);

impl Serialize for Viewed<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        VIEW.serialize(self.0, self.1, to)
    }
}

/// A task that was read from the JSON of an answer, and the mark that answers add.
#[derive(Debug, Clone)]
pub struct ViewedTask {
    /// The task.
    pub task: Task,
    /// True if the lease of the task's claim ran out, but no event records this yet.
    pub lease_expired: bool,
}

impl<'de> Deserialize<'de> for ViewedTask {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<ViewedTask, D::Error> {
        let (task, context) = VIEW.read(from)?;
        Ok(ViewedTask {
            task,
            lease_expired: context.lease_expired,
        })
    }
}

impl Task {
    /// Returns the record of `tasks/<id>.json`, compact: the superset of all renderings, keys in a fixed order.
    pub fn to_json(&self) -> Json {
        self.to_json_marked(false)
    }

    /// Returns the record of `tasks/<id>.json` with the mark `lease_expired`, for answers.
    pub fn to_json_marked(&self, lease_expired: bool) -> Json {
        let context = TaskContext {
            lease_expired,
            ..TaskContext::default()
        };
        match Json::from_value(&Viewed(self, &context)) {
            Ok(json) => json,
            // The parts of a task come from events, whose limits are tighter, so serialising cannot fail.
            Err(error) => unreachable!("a task did not serialise: {error}"),
        }
    }
}

impl JsonSchema for Task {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Task".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        VIEW.schema("A task as its view file shows it", generator)
    }
}

/// Writes the content of a task's view file into `text`. The progress of the children is left out, because events of other
/// tasks change it and do not rewrite this file.
pub(crate) fn text(task: &Task, text: &mut Vec<u8>) {
    text.clear();
    let mut task = Cow::Borrowed(task);
    if task.governed.plan.children != Children::default() {
        task.to_mut().governed.plan.children = Children::default();
    }
    // Writing to memory cannot fail.
    let _ = serde_json::to_writer_pretty(&mut *text, &Viewed(&task, &TaskContext::default()));
    text.push(b'\n');
}

/// Returns the name of a task's file; ids were checked when their event was decoded.
pub(crate) fn file_name(id: &str) -> String {
    format!("{id}.json")
}

pub(crate) fn walk(live: &TeamState, to: &mut Walk<'_>) -> Result<()> {
    let mut content = Vec::new();
    for task in task::all(live.rows()) {
        let task = task?;
        text(&task, &mut content);
        to.file(DIR, &file_name(&task.task_id), &content)?;
    }
    to.end(DIR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::message::Priority;
    use crate::task::{Attributes, Children, Claim, ClaimState, Governed, Plan, Reported, Status};

    /// Creates a task with every field that its view shows, each with a different value.
    fn full() -> Task {
        let text = |name: &str| Some(name.to_owned());
        let json = |text: &str| Json::parse(text).ok();
        let at = |seconds: i64| Timestamp::from_micros(seconds * 1_000_000).unwrap();
        Task {
            task_id: "7".to_owned(),
            created_at: at(1),
            updated_at: at(2),
            owner: text("dev"),
            assigned_by: text("lead"),
            subject: text("subject"),
            details: text("details"),
            status: Status::InProgress,
            progress: json("0.5"),
            eta: json("\"tomorrow\""),
            blocked: true,
            note: text("note"),
            trace_id: text("trace"),
            last_update_from: text("qa"),
            priority: Priority::High,
            deps: vec!["1".to_owned()],
            ignored_deps: vec!["2".to_owned()],
            claim_governed: true,
            reported_status: Some(Status::Blocked),
            reported_owner: text("ada"),
            reported: Reported {
                blocked: true,
                progress: json("40"),
                eta: json("{\"days\":2}"),
                note: text("said"),
                by: text("eve"),
                at: Some(at(3)),
                status_by: text("lead"),
                // The view does not have the time.
                status_at: None,
                unapplied: None,
            },
            snapshot_version: 4,
            version: 5,
            last_message_id: "m-1".to_owned(),
            last_message_created_at: at(4),
            seq: 6,
            governed: Governed {
                known: true,
                attributes: Attributes {
                    requires_code_change: Some(true),
                    requires_approval: Some(false),
                },
                plan: Plan {
                    labels: vec!["api".to_owned()],
                    due_at: Some(at(8)),
                    defer_until: Some(at(9)),
                    parent: text("3"),
                    children: Children {
                        total: 3,
                        open: 2,
                        completed: 1,
                    },
                },
                result: text("result"),
                error: text("error"),
                started_at: Some(at(5)),
                completed_at: Some(at(6)),
                epoch: 8,
                claim: Some(Claim {
                    owner: "dev".to_owned(),
                    token: "secret".to_owned(),
                    leased_until: at(7),
                    state: ClaimState::Live,
                    leased_at: Timestamp::default(),
                    session: None,
                }),
                resources: vec!["src".to_owned()],
                shared: Some(false),
                extra: json("{\"a\":1.5}"),
            },
        }
    }

    #[test]
    fn a_task_comes_back_from_its_view() {
        for task in [full(), Task::default()] {
            for lease_expired in [false, true] {
                let json = task.to_json_marked(lease_expired);
                let shown: ViewedTask = serde_json::from_str(json.as_str()).unwrap();
                assert_eq!(shown.lease_expired, lease_expired);
                assert_eq!(shown.task, task);
            }
        }
    }

    #[test]
    fn a_hidden_token_is_empty_and_stays_hidden() {
        let json = full().to_json().into_string();
        let hidden = json.replace("\"token\":\"secret\",", "");
        assert_ne!(json, hidden);
        let shown: ViewedTask = serde_json::from_str(&hidden).unwrap();
        assert_eq!(shown.task.to_json().as_str(), hidden);
    }
}
