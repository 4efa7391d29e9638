//! A task read back from the JSON that answers show it as.

use crate::message::Priority;
use crate::prelude::*;
use crate::task::{Attributes, Claim, ClaimState, Governed, Reported, Status, Task};
use serde::Deserializer;
use serde::de::Error;

/// A task of an answer, and the mark that answers add to it.
///
/// What the JSON does not say is lost: how a claim ended, and the message that was not applied. A token that was hidden
/// from the reader is empty.
#[derive(Debug, Clone)]
pub struct ShownTask {
    /// The task.
    pub task: Task,
    /// True if the lease of its claim ran out, which no event says yet.
    pub lease_expired: bool,
}

/// The fields of a task's view, each once.
#[derive(Deserialize)]
struct Fields {
    task_id: String,
    subject: Option<String>,
    details: Option<String>,
    status: Status,
    owner: Option<String>,
    assigned_by: Option<String>,
    priority: Priority,
    progress: Option<Box<RawValue>>,
    eta: Option<Box<RawValue>>,
    blocked: bool,
    note: Option<String>,
    deps: Vec<String>,
    #[serde(default)]
    ignored_deps: Vec<String>,
    trace_id: Option<String>,
    created_at: Timestamp,
    updated_at: Timestamp,
    last_update_from: Option<String>,
    reported_status: Option<Status>,
    reported_owner: Option<String>,
    #[serde(default)]
    reported_blocked: bool,
    reported_progress: Option<Box<RawValue>>,
    reported_eta: Option<Box<RawValue>>,
    reported_note: Option<String>,
    reported_by: Option<String>,
    reported_at: Option<Timestamp>,
    #[serde(flatten)]
    attributes: Attributes,
    result: Option<String>,
    error: Option<String>,
    claim: Option<ShownClaim>,
    #[serde(default)]
    epoch: u64,
    started_at: Option<Timestamp>,
    completed_at: Option<Timestamp>,
    #[serde(default)]
    resources: Vec<String>,
    shared: Option<bool>,
    extra: Option<Box<RawValue>>,
    version: u64,
    snapshot_version: u64,
    last_message_id: Option<String>,
    last_message_created_at: Option<Timestamp>,
    #[serde(default)]
    lease_expired: bool,
    seq: u64,
}

#[derive(Deserialize)]
struct ShownClaim {
    owner: String,
    #[serde(default)]
    token: String,
    leased_until: Timestamp,
}

impl<'de> Deserialize<'de> for ShownTask {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<ShownTask, D::Error> {
        let fields = Fields::deserialize(from)?;
        let lease_expired = fields.lease_expired;
        let task = fields.task().map_err(D::Error::custom)?;
        Ok(ShownTask {
            task,
            lease_expired,
        })
    }
}

impl Fields {
    fn task(self) -> std::result::Result<Task, JsonError> {
        let json = |raw: Option<Box<RawValue>>| raw.map(|raw| Json::parse(raw.get())).transpose();
        let claim = self.claim.map(|claim| Claim {
            owner: claim.owner,
            token: claim.token,
            leased_until: claim.leased_until,
            state: ClaimState::Live,
        });
        Ok(Task {
            reported: Reported {
                blocked: self.reported_blocked,
                progress: json(self.reported_progress)?,
                eta: json(self.reported_eta)?,
                note: self.reported_note,
                by: self.reported_by,
                at: self.reported_at,
                unapplied: None,
            },
            governed: Governed {
                known: self.epoch > 0,
                attributes: self.attributes,
                result: self.result,
                error: self.error,
                started_at: self.started_at,
                completed_at: self.completed_at,
                epoch: self.epoch,
                claim,
                resources: self.resources,
                shared: self.shared,
                extra: json(self.extra)?,
            },
            task_id: self.task_id,
            created_at: self.created_at,
            updated_at: self.updated_at,
            owner: self.owner,
            assigned_by: self.assigned_by,
            subject: self.subject,
            details: self.details,
            status: self.status,
            progress: json(self.progress)?,
            eta: json(self.eta)?,
            blocked: self.blocked,
            note: self.note,
            trace_id: self.trace_id,
            last_update_from: self.last_update_from,
            priority: self.priority,
            deps: self.deps,
            ignored_deps: self.ignored_deps,
            claim_governed: self.epoch > 0,
            reported_status: self.reported_status,
            reported_owner: self.reported_owner,
            snapshot_version: self.snapshot_version,
            version: self.version,
            last_message_id: self.last_message_id.unwrap_or_default(),
            last_message_created_at: self.last_message_created_at.unwrap_or_default(),
            seq: self.seq,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A task with every field that its view shows, each with a value of its own.
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
                let shown: ShownTask = serde_json::from_str(json.as_str()).unwrap();
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
        let shown: ShownTask = serde_json::from_str(&hidden).unwrap();
        assert_eq!(shown.task.to_json().as_str(), hidden);
    }
}
