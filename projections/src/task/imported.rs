//! `task_imported`: a task of which only a snapshot is left. The payload has the names of the message protocol's
//! snapshots; what does not apply is left out.

use crate::fact::events::Decode;
use crate::fact::stored::{Decoded, id, read};
use crate::message::{Names, check_name};
use crate::task::Status;
use crate::task::event::{TaskAct, TaskFact};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use teamlog_engine::{NewEvent, Timestamp};

/// `task_imported`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskImported {
    /// Its id.
    pub task_id: String,
    /// When it came to be.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Who works on it.
    pub owner: Option<String>,
    /// Who gave it to the owner.
    pub assigned_by: Option<String>,
    /// What it is about.
    pub subject: Option<String>,
    /// The long form.
    pub details: Option<String>,
    /// Its state.
    pub status: Status,
    /// How far it is, as JSON text.
    pub progress: Option<String>,
    /// When it will be done, as JSON text.
    pub eta: Option<String>,
    /// Whether it was reported blocked.
    pub blocked: bool,
    /// The last note.
    pub note: Option<String>,
    /// The story it belongs to.
    pub trace_id: Option<String>,
    /// Who sent the last update.
    pub last_update_from: Option<String>,
    /// How many messages made it.
    pub snapshot_version: u64,
    /// The last of them.
    pub last_message_id: Option<String>,
    /// Its time; messages that are older come too late.
    pub last_message_created_at: Option<Timestamp>,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    #[serde(skip_serializing)]
    task_id: String,
    created_at: String,
    updated_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    assigned_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    details: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    progress: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    eta: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    blocked: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trace_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_update_from: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    snapshot_version: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_message_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_message_created_at: Option<String>,
}

impl TaskImported {
    /// Reads a snapshot: the payload of an event, or the file that somebody left. Unknown fields are passed by.
    ///
    /// # Errors
    /// Which field breaks which rule.
    pub fn parse(text: &str) -> Result<TaskImported, String> {
        let stored: Stored = read(text)?;
        id("task_id", &stored.task_id)?;
        let named = |field, value: &Option<String>| match value {
            Some(value) => {
                check_name(field, value, Names::Imported).map_err(|error| error.to_string())
            }
            None => Ok(()),
        };
        named("task_id", &Some(stored.task_id.clone()))?;
        named("owner", &stored.owner)?;
        named("assigned_by", &stored.assigned_by)?;
        named("last_update_from", &stored.last_update_from)?;
        if let Some(trace) = &stored.trace_id {
            id("trace_id", trace)?;
        }
        let status = match &stored.status {
            None => Status::Pending,
            Some(name) => Status::from_name(name)
                .ok_or_else(|| format!("status must be one of a task, but is {name:?}"))?,
        };
        let last = stored.last_message_created_at.as_deref();
        Ok(TaskImported {
            created_at: time("created_at", &stored.created_at)?,
            updated_at: time("updated_at", &stored.updated_at)?,
            last_message_created_at: last
                .map(|text| time("last_message_created_at", text))
                .transpose()?,
            task_id: stored.task_id,
            owner: stored.owner,
            assigned_by: stored.assigned_by,
            subject: stored.subject,
            details: stored.details,
            status,
            progress: text_of(stored.progress),
            eta: text_of(stored.eta),
            blocked: stored.blocked.unwrap_or(false),
            note: stored.note,
            trace_id: stored.trace_id,
            last_update_from: stored.last_update_from,
            snapshot_version: stored.snapshot_version.unwrap_or(0),
            last_message_id: stored.last_message_id,
        })
    }

    /// The event that records it.
    pub fn event(&self, actor: &str) -> NewEvent {
        let fact = TaskFact::of(&*self.task_id, TaskAct::Imported(self.clone()));
        fact.event(actor, None, self.trace_id.as_deref())
    }
}

impl Decode for TaskImported {
    fn decode(text: &str) -> Decoded<TaskImported> {
        TaskImported::parse(text)
    }
}

impl Serialize for TaskImported {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw = |text: &Option<String>| {
            let text = text.clone()?;
            RawValue::from_string(text).ok()
        };
        let stored = Stored {
            task_id: String::new(),
            created_at: self.created_at.to_string(),
            updated_at: self.updated_at.to_string(),
            owner: self.owner.clone(),
            assigned_by: self.assigned_by.clone(),
            subject: self.subject.clone(),
            details: self.details.clone(),
            status: Some(self.status.name().to_owned()),
            progress: raw(&self.progress),
            eta: raw(&self.eta),
            blocked: Some(self.blocked),
            note: self.note.clone(),
            trace_id: self.trace_id.clone(),
            last_update_from: self.last_update_from.clone(),
            snapshot_version: Some(self.snapshot_version),
            last_message_id: self.last_message_id.clone(),
            last_message_created_at: self.last_message_created_at.map(|at| at.to_string()),
        };
        stored.serialize(serializer)
    }
}

fn time(field: &str, text: &str) -> Decoded<Timestamp> {
    Timestamp::parse(text).map_err(|why| format!("{field} must be a time ({why}), but is {text:?}"))
}

/// Canonical JSON text; `null` is nothing.
fn text_of(raw: Option<Box<RawValue>>) -> Option<String> {
    let json = teamlog_engine::Json::parse(raw?.get()).ok()?;
    Some(json.into_string()).filter(|text| text != "null")
}

#[cfg(test)]
mod tests {
    use super::*;
    use teamlog_engine::RefKind;

    #[test]
    fn a_snapshot_comes_back_from_its_event() {
        let text = r#"{"task_id":"T-1","created_at":"2026-01-01T08:00:00+01:00","updated_at":"2026-01-02T00:00:00Z",
            "owner":"dev","assigned_by":"lead","subject":"s","details":"","status":"done","progress":0.5,"eta":null,
            "blocked":null,"note":"n","trace_id":"tr","last_update_from":"dev","snapshot_version":3,
            "last_message_id":"m3","last_message_created_at":"2026-01-02T00:00:00Z","snapshot_conflict_policy":"x"}"#;
        let task = TaskImported::parse(text).unwrap();
        assert_eq!(
            (task.status, task.eta.as_deref()),
            (Status::Completed, None)
        );
        assert_eq!(task.progress.as_deref(), Some("0.5"));
        let event = task.event("teamlog");
        assert_eq!(event.refs.get(RefKind::Task), Some("T-1"));
        assert_eq!(TaskImported::parse(event.payload.as_str()), Ok(task));
    }

    #[test]
    fn what_is_no_snapshot_says_why() {
        let with = |field: &str| {
            let times =
                r#""created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z""#;
            TaskImported::parse(&format!("{{{times},{field}}}"))
        };
        assert!(with(r#""task_id":"a""#).is_ok());
        for bad in [
            r#""task_id":"../a""#,
            r#""task_id":"""#,
            r#""task_id":"a","owner":"a/b""#,
            r#""task_id":"a","status":"paused""#,
            r#""subject":"without an id""#,
        ] {
            assert!(with(bad).is_err(), "{bad}");
        }
        assert!(TaskImported::parse(r#"{"task_id":"a"}"#).is_err());
    }
}
