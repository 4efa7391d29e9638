//! `task_imported`: a task of which only a snapshot is left. The payload has the field names of the message protocol's snapshots,
//! without fields that do not apply.

use super::stored::{json, or_default};
use super::task::{Status, TaskAct, TaskFact};
use super::*;
use serde::Deserializer;
use serde::de::Error;

/// Payload of `task_imported`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskImported {
    /// Id of the task.
    #[serde(skip_serializing)]
    pub task_id: String,
    /// Creation time.
    #[serde(deserialize_with = "time")]
    pub created_at: Timestamp,
    /// Time of the last change.
    #[serde(deserialize_with = "time")]
    pub updated_at: Timestamp,
    /// Owner, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Agent that assigned the task to the owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assigned_by: Option<String>,
    /// Subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Details.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
    /// Status.
    #[serde(default, deserialize_with = "or_default")]
    pub status: Status,
    /// Progress, as reported.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "json")]
    pub progress: Option<Json>,
    /// Estimated completion, as reported.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "json")]
    pub eta: Option<Json>,
    /// True if the task was reported blocked.
    #[serde(default, deserialize_with = "or_default")]
    pub blocked: bool,
    /// Last note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Trace id, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// Sender of the last update.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_update_from: Option<String>,
    /// Number of messages in the snapshot.
    #[serde(default, deserialize_with = "or_default")]
    pub snapshot_version: u64,
    /// Id of the last message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_message_id: Option<String>,
    /// Creation time of the last message; older messages are not applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "optional_time")]
    pub last_message_created_at: Option<Timestamp>,
}

checks! {
    TaskImported { name task_id, name owner, name assigned_by, name last_update_from, id trace_id }
}

impl TaskImported {
    /// Reads a snapshot: the payload of an event, or a snapshot file. Unknown fields are ignored.
    ///
    /// # Errors
    /// The field, and the rule that it breaks.
    pub fn parse(text: &str) -> Result<TaskImported, String> {
        let task: TaskImported = read(text)?;
        task.check()?;
        Ok(task)
    }

    /// Builds the event.
    pub fn event(&self, actor: &str) -> NewEvent {
        let fact = TaskFact::new(&*self.task_id, TaskAct::Imported(self.clone()));
        fact.event(actor, None, self.trace_id.as_deref())
    }
}

/// Reads a time in any form of ISO 8601.
fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
    let time = optional_time(deserializer)?;
    time.ok_or_else(|| Error::custom("a time is missing"))
}

fn optional_time<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Timestamp>, D::Error> {
    let text: Option<String> = Deserialize::deserialize(deserializer)?;
    let time = text.map(|text| {
        let time = Timestamp::parse(&text);
        time.map_err(|why| Error::custom(format!("must be a time ({why}), but is {text:?}")))
    });
    time.transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_comes_back_from_its_event() {
        let text = r#"{"task_id":"T-1","created_at":"2026-01-01T08:00:00+01:00","updated_at":"2026-01-02T00:00:00Z",
            "owner":"dev","assigned_by":"lead","subject":"s","details":"","status":"done","progress":0.5,"eta":null,
            "blocked":null,"note":"n","trace_id":"tr","last_update_from":"dev","snapshot_version":3,
            "last_message_id":"m3","last_message_created_at":"2026-01-02T00:00:00Z","snapshot_conflict_policy":"x"}"#;
        let task = TaskImported::parse(text).unwrap();
        assert_eq!((task.status, &task.eta), (Status::Completed, &None));
        assert_eq!(task.progress, Json::parse("0.5").ok());
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
