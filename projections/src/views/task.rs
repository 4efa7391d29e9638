//! `tasks/<id>.json`: one stored task, the superset of its renderings.

use crate::tasks::{CONFLICT_POLICY, Task};
use serde::Serialize;
use serde_json::value::RawValue;
use std::path::{Path, PathBuf};
use teamlog_engine::Json;

pub(super) const DIR: &str = "tasks";

/// Fields that the message protocol always has are there even when they hold nothing; the others are left out then.
#[derive(Serialize)]
struct TaskView<'a> {
    schema_version: u32,
    #[serde(rename = "schemaVersion")]
    schema_version_text: &'a str,
    id: &'a str,
    task_id: &'a str,
    subject: Option<&'a str>,
    title: Option<&'a str>,
    details: Option<&'a str>,
    description: Option<&'a str>,
    status: &'a str,
    owner: Option<&'a str>,
    assigned_by: Option<&'a str>,
    priority: &'a str,
    progress: Option<&'a RawValue>,
    eta: Option<&'a RawValue>,
    blocked: bool,
    note: Option<&'a str>,
    deps: &'a [String],
    depends_on: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    ignored_deps: &'a [String],
    trace_id: Option<&'a str>,
    created_at: String,
    updated_at: String,
    last_update_from: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reported_status: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reported_owner: Option<&'a str>,
    version: u64,
    snapshot_version: u64,
    last_message_id: &'a str,
    last_message_created_at: String,
    snapshot_conflict_policy: &'a str,
    seq: u64,
}

impl<'a> TaskView<'a> {
    fn of(task: &'a Task) -> TaskView<'a> {
        let raw = |json: &'a Json| serde_json::from_str(json.as_str()).ok();
        TaskView {
            schema_version: 1,
            schema_version_text: "1.0.0",
            id: &task.task_id,
            task_id: &task.task_id,
            subject: task.subject.as_deref(),
            title: task.subject.as_deref(),
            details: task.details.as_deref(),
            description: task.details.as_deref(),
            status: task.status.name(),
            owner: task.owner.as_deref(),
            assigned_by: task.assigned_by.as_deref(),
            priority: task.priority.name(),
            progress: task.progress.as_ref().and_then(raw),
            eta: task.eta.as_ref().and_then(raw),
            blocked: task.blocked,
            note: task.note.as_deref(),
            deps: &task.deps,
            depends_on: &task.deps,
            ignored_deps: &task.ignored_deps,
            trace_id: task.trace_id.as_deref(),
            created_at: task.created_at.to_string(),
            updated_at: task.updated_at.to_string(),
            last_update_from: task.last_update_from.as_deref(),
            reported_status: task.reported_status.map(|status| status.name()),
            reported_owner: task.reported_owner.as_deref(),
            version: task.version,
            snapshot_version: task.snapshot_version,
            last_message_id: &task.last_message_id,
            last_message_created_at: task.last_message_created_at.to_string(),
            snapshot_conflict_policy: CONFLICT_POLICY,
            seq: task.seq,
        }
    }
}

impl Task {
    /// The record of `tasks/<id>.json`, compact: the superset of all renderings, keys in a fixed order.
    pub fn to_json(&self) -> Json {
        match Json::of(&TaskView::of(self)) {
            Ok(json) => json,
            // Its parts came out of an event, whose limits are tighter.
            Err(error) => unreachable!("a task did not serialise: {error}"),
        }
    }
}

/// The file's content, in the place of what `text` holds.
pub(super) fn text(task: &Task, text: &mut Vec<u8>) {
    text.clear();
    // Into memory nothing fails.
    let _ = serde_json::to_writer_pretty(&mut *text, &TaskView::of(task));
    text.push(b'\n');
}

/// The file of a task; ids were checked when their event was decoded.
pub(super) fn path(dir: &Path, id: &str) -> PathBuf {
    dir.join(file_name(id))
}

/// The file's name.
pub(super) fn file_name(id: &str) -> String {
    format!("{id}.json")
}
