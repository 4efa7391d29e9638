//! `tasks/<id>.json`: one stored task, the superset of its renderings.

use crate::event::message::Priority;
use crate::files::Walk;
use crate::prelude::*;
use crate::task::{self, Attributes, CONFLICT_POLICY, Governed, Reported, Status, Task};
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};

pub(crate) const DIR: &str = "tasks";

/// Fields that the message protocol always has are there even when they hold nothing; the others are left out then.
#[derive(Serialize, JsonSchema)]
struct TaskView<'a> {
    /// Version of this record
    schema_version: u32,
    /// The same for readers that want text
    #[serde(rename = "schemaVersion")]
    schema_version_text: &'a str,
    /// The task's id
    id: &'a str,
    /// The same
    task_id: &'a str,
    /// What it is, in a line
    subject: Option<&'a str>,
    /// The same
    title: Option<&'a str>,
    /// What it is, at length
    details: Option<&'a str>,
    /// The same
    description: Option<&'a str>,
    status: Status,
    /// Who works on it
    owner: Option<&'a str>,
    /// Who gave it to the owner
    assigned_by: Option<&'a str>,
    priority: Priority,
    /// How far it is, as its reporter says it
    #[schemars(with = "Option<Value>")]
    progress: Option<&'a RawValue>,
    /// When it will be done, as its reporter says it
    #[schemars(with = "Option<Value>")]
    eta: Option<&'a RawValue>,
    /// Whether it was reported blocked
    blocked: bool,
    /// The last note
    note: Option<&'a str>,
    /// The tasks it waits for
    deps: &'a [String],
    /// The same
    depends_on: &'a [String],
    /// The same
    blocked_by: &'a [String],
    /// Dependencies that would have closed a cycle, and were left out
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    ignored_deps: &'a [String],
    /// The story it belongs to
    trace_id: Option<&'a str>,
    /// Time of the first message applied
    created_at: Timestamp,
    /// Time of the last message applied
    updated_at: Timestamp,
    /// Who sent the last update applied
    last_update_from: Option<&'a str>,
    /// What a message reported of a claim-governed task
    #[serde(skip_serializing_if = "Option::is_none")]
    reported_status: Option<Status>,
    /// Whom an assignment named for a claim-governed task
    #[serde(skip_serializing_if = "Option::is_none")]
    reported_owner: Option<&'a str>,
    /// Whether a message reported a claim-governed task blocked
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    reported_blocked: bool,
    /// How far a claim-governed task is, as a message reported it
    #[schemars(with = "Option<Value>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    reported_progress: Option<&'a RawValue>,
    /// When a claim-governed task will be done, as a message reported it
    #[schemars(with = "Option<Value>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    reported_eta: Option<&'a RawValue>,
    /// The last note that a message left on a claim-governed task
    #[serde(skip_serializing_if = "Option::is_none")]
    reported_note: Option<&'a str>,
    /// Who sent the last message about a claim-governed task
    #[serde(skip_serializing_if = "Option::is_none")]
    reported_by: Option<&'a str>,
    /// Time of that message
    #[serde(skip_serializing_if = "Option::is_none")]
    reported_at: Option<Timestamp>,
    /// Its attributes
    #[serde(flatten)]
    attributes: &'a Attributes,
    /// What its completion brought
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a str>,
    /// Why it failed
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    /// Who works on it under a lease
    #[serde(skip_serializing_if = "Option::is_none")]
    claim: Option<ClaimView<'a>>,
    /// How many claims it has had
    #[serde(skip_serializing_if = "is_zero")]
    epoch: u64,
    /// When it was last claimed
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<Timestamp>,
    /// When it was completed, failed or canceled
    #[serde(skip_serializing_if = "Option::is_none")]
    completed_at: Option<Timestamp>,
    /// The paths that its holder may write, relative to the repository
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    resources: &'a [String],
    /// Whether others may hold the same paths meanwhile
    #[serde(skip_serializing_if = "Option::is_none")]
    shared: Option<bool>,
    /// What else its creator said of it
    #[schemars(with = "Option<Map<String, Value>>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    extra: Option<&'a RawValue>,
    /// Counts every applied mutation
    version: u64,
    /// Counts applied task messages
    snapshot_version: u64,
    /// The last message applied
    last_message_id: Option<&'a str>,
    /// Its time
    last_message_created_at: Option<Timestamp>,
    /// How messages that arrive out of order are dealt with
    snapshot_conflict_policy: &'a str,
    /// Whether the lease of the claim ran out, which no event says yet; in answers only, never in the file
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    lease_expired: bool,
    /// Seq of the last event that changed it
    seq: u64,
}

/// A claim that counts.
#[derive(Serialize, JsonSchema)]
struct ClaimView<'a> {
    /// Who made it
    owner: &'a str,
    /// What its holder presents; left out where it is hidden from the reader
    #[serde(skip_serializing_if = "str::is_empty")]
    token: &'a str,
    /// It counts before that moment
    leased_until: Timestamp,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl<'a> TaskView<'a> {
    // Names every field of a task: one that is added has to be shown here, or left out on purpose.
    fn of(task: &'a Task) -> TaskView<'a> {
        let Task {
            task_id,
            created_at,
            updated_at,
            owner,
            assigned_by,
            subject,
            details,
            status,
            progress,
            eta,
            blocked,
            note,
            trace_id,
            last_update_from,
            priority,
            deps,
            ignored_deps,
            claim_governed: _,
            reported_status,
            reported_owner,
            reported,
            snapshot_version,
            version,
            last_message_id,
            last_message_created_at,
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
            started_at,
            completed_at,
            epoch,
            // Only a live one is shown.
            claim: _,
            resources,
            shared,
            extra,
        } = governed;
        // A task that no message ever named has no last one.
        let named = !last_message_id.is_empty() || last_message_created_at.micros() != 0;
        let raw = |json: &'a Json| serde_json::from_str(json.as_str()).ok();
        TaskView {
            schema_version: 1,
            schema_version_text: "1.0.0",
            id: task_id,
            task_id,
            subject: subject.as_deref(),
            title: subject.as_deref(),
            details: details.as_deref(),
            description: details.as_deref(),
            status: *status,
            owner: owner.as_deref(),
            assigned_by: assigned_by.as_deref(),
            priority: *priority,
            progress: progress.as_ref().and_then(raw),
            eta: eta.as_ref().and_then(raw),
            blocked: *blocked,
            note: note.as_deref(),
            deps,
            depends_on: deps,
            blocked_by: deps,
            ignored_deps,
            trace_id: trace_id.as_deref(),
            created_at: *created_at,
            updated_at: *updated_at,
            last_update_from: last_update_from.as_deref(),
            reported_status: *reported_status,
            reported_owner: reported_owner.as_deref(),
            reported_blocked: *reported_blocked,
            reported_progress: reported_progress.as_ref().and_then(raw),
            reported_eta: reported_eta.as_ref().and_then(raw),
            reported_note: reported_note.as_deref(),
            reported_by: reported_by.as_deref(),
            reported_at: *reported_at,
            attributes,
            result: result.as_deref(),
            error: error.as_deref(),
            claim: task.claim().map(|claim| ClaimView {
                owner: &claim.owner,
                token: &claim.token,
                leased_until: claim.leased_until,
            }),
            epoch: *epoch,
            started_at: *started_at,
            completed_at: *completed_at,
            resources,
            shared: *shared,
            extra: extra.as_ref().and_then(raw),
            version: *version,
            snapshot_version: *snapshot_version,
            last_message_id: named.then_some(last_message_id),
            last_message_created_at: named.then_some(*last_message_created_at),
            snapshot_conflict_policy: CONFLICT_POLICY,
            lease_expired: false,
            seq: *seq,
        }
    }
}

impl Task {
    /// The record of `tasks/<id>.json`, compact: the superset of all renderings, keys in a fixed order.
    pub fn to_json(&self) -> Json {
        TaskView::of(self).json()
    }

    /// The same with the mark `lease_expired`, for answers.
    pub fn to_json_marked(&self, lease_expired: bool) -> Json {
        let mut view = TaskView::of(self);
        view.lease_expired = lease_expired;
        view.json()
    }
}

impl TaskView<'_> {
    fn json(&self) -> Json {
        match Json::from_value(self) {
            Ok(json) => json,
            // Its parts came out of events, whose limits are tighter.
            Err(error) => unreachable!("a task did not serialise: {error}"),
        }
    }
}

impl JsonSchema for Task {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Task".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = TaskView::json_schema(generator);
        let about = "A task as its view file shows it";
        schema.insert("description".to_owned(), about.into());
        schema
    }
}

/// The file's content, in the place of what `text` holds.
pub(crate) fn text(task: &Task, text: &mut Vec<u8>) {
    text.clear();
    // Into memory nothing fails.
    let _ = serde_json::to_writer_pretty(&mut *text, &TaskView::of(task));
    text.push(b'\n');
}

/// The file of a task; ids were checked when their event was decoded.
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
