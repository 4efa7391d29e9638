//! Tasks that are governed by claims: their facts and the JSON of their payloads.
//!
//! | kind | payload, beside `task_id` |
//! |---|---|
//! | `task_created` | `{subject, description, status, owner?, depends_on[], requires_code_change?, priority?, resources?[], shared?, extra?{}}` |
//! | `task_updated` | `{subject?, description?, requires_code_change?}`; each one is a new version |
//! | `task_deps_changed` | `{depends_on[]}` |
//! | `resource_declared` | `{resources[], shared?}` |
//! | `task_blocked` | `{waits_for[]}` |
//! | `task_unblocked` | `{}` |
//! | `task_claimed` | `{worker, token, epoch, leased_until}` |
//! | `task_renewed` | `{worker, epoch, forced?, leased_until}` |
//! | `task_completed` | `{worker, epoch, forced?, result?}` |
//! | `task_failed` | `{worker, epoch, forced?, error?}` |
//! | `task_released` | `{worker, epoch, forced?}` |
//! | `task_canceled` | `{reason?, forced?}` |
//! | `task_reopened` | `{}` |
//! | `task_lease_expired` | `{worker, epoch, leased_until}` |

use crate::fact::event;
use crate::fact::events::{Payload, events};
use crate::fact::stored::{Decoded, id, name, read, write};
use crate::message::Priority;
use crate::task::Status;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use teamlog_engine::{Json, NewEvent, RefKind, Timestamp};

/// What a command did to a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TaskFact {
    /// The task.
    pub task_id: String,
    /// What was done.
    #[serde(flatten)]
    pub act: TaskAct,
}

events! {
    /// One thing that happens to a task.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum TaskAct {
        /// It came into the world.
        "task_created" => Created(TaskCreated),
        /// What it is about changed; also the new version of a change of dependencies alone.
        "task_updated" => Updated(TaskUpdated),
        /// It waits for other tasks than before.
        "task_deps_changed" => DepsChanged(DepsChanged),
        /// Its holder may write other paths than before.
        "resource_declared" => ResourcesDeclared(Resources),
        /// It began to wait for others.
        "task_blocked" => Blocked(TaskBlocked),
        /// It waits for nothing any more.
        "task_unblocked" => Unblocked,
        /// A worker took it.
        "task_claimed" => Claimed(TaskClaimed),
        /// Its lease was prolonged.
        "task_renewed" => Renewed(Lease),
        /// Its holder completed it.
        "task_completed" => Completed(TaskCompleted),
        /// Its holder gave it up.
        "task_failed" => Failed(TaskFailed),
        /// Its holder gave it back.
        "task_released" => Released(Held),
        /// It is not to be done.
        "task_canceled" => Canceled(TaskCanceled),
        /// Failed, it is to be done after all.
        "task_reopened" => Reopened,
        /// The lease of its claim ran out.
        "task_lease_expired" => LeaseExpired(Lease),
    }
}

/// `task_created`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskCreated {
    /// What it is, in a line.
    pub subject: String,
    /// What it is, at length.
    pub description: String,
    /// Whether it begins waiting for others.
    #[serde(rename = "status", with = "blocked")]
    pub blocked: bool,
    /// Who is to take it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The tasks it waits for.
    pub depends_on: Vec<String>,
    /// Whether it cannot be done without changing code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requires_code_change: Option<bool>,
    /// How urgent it is.
    #[serde(
        default,
        skip_serializing_if = "priority::is_normal",
        with = "priority"
    )]
    pub priority: Priority,
    /// The paths that its holder may write.
    #[serde(flatten)]
    pub resources: Resources,
    /// What else its creator said of it: a JSON object.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "extra")]
    pub extra: Option<Json>,
}

/// What a task declares of paths: `resource_declared`, and a part of `task_created`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    /// Paths and patterns, relative to the repository.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<String>,
    /// Whether others may hold the same meanwhile, if somebody said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<bool>,
}

/// `task_updated`: what is not mentioned stays.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskUpdated {
    /// What it is, in a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// What it is, at length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether it cannot be done without changing code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requires_code_change: Option<bool>,
}

/// `task_deps_changed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DepsChanged {
    /// The tasks it waits for.
    pub depends_on: Vec<String>,
}

/// `task_blocked`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskBlocked {
    /// The tasks it waits for.
    pub waits_for: Vec<String>,
}

/// `task_claimed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskClaimed {
    /// The holder.
    pub worker: String,
    /// What the holder must present.
    pub token: String,
    /// The number of its claim among those of the task, from 1.
    pub epoch: u64,
    /// The claim counts before that moment.
    pub leased_until: Timestamp,
}

/// A claim for a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The holder and the number of its claim.
    #[serde(flatten)]
    pub held: Held,
    /// The claim counts before that moment.
    pub leased_until: Timestamp,
}

/// Whose claim it was, and which.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// The holder.
    pub worker: String,
    /// The number of its claim among those of the task, from 1.
    pub epoch: u64,
    /// Whether somebody acted on the claim without being asked whether it is theirs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forced: bool,
}

/// `task_completed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskCompleted {
    /// Whose claim ended.
    #[serde(flatten)]
    pub held: Held,
    /// What came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

/// `task_failed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskFailed {
    /// Whose claim ended.
    #[serde(flatten)]
    pub held: Held,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// `task_canceled`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskCanceled {
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether a claim of somebody else ended with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forced: bool,
}

/// `blocked`, stored as the status that it begins with.
mod blocked {
    use super::*;

    pub fn serialize<S: Serializer>(blocked: &bool, serializer: S) -> Result<S::Ok, S::Error> {
        let status = match blocked {
            true => Status::Blocked,
            false => Status::Pending,
        };
        serializer.serialize_str(status.name())
    }
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
        let name: Cow<'de, str> = Deserialize::deserialize(deserializer)?;
        match Status::from_name(&name) {
            Some(Status::Pending) => Ok(false),
            Some(Status::Blocked) => Ok(true),
            _ => Err(serde::de::Error::custom(
                "status is neither pending nor blocked",
            )),
        }
    }
}

/// `priority`, stored by its name.
mod priority {
    use super::*;

    pub fn is_normal(priority: &Priority) -> bool {
        *priority == Priority::Normal
    }
    pub fn serialize<S: Serializer>(priority: &Priority, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(priority.name())
    }
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Priority, D::Error> {
        let name: Option<Cow<'de, str>> = Deserialize::deserialize(deserializer)?;
        let known = name.map_or(Some(Priority::Normal), |name| Priority::from_name(&name));
        known.ok_or_else(|| serde::de::Error::custom("priority is not known"))
    }
}

/// `extra`, stored as the object that it is.
mod extra {
    use super::*;

    pub fn serialize<S: Serializer>(
        extra: &Option<Json>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let raw = extra
            .as_ref()
            .map(|extra| serde_json::from_str::<&RawValue>(extra.as_str()));
        let raw = raw.transpose().map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Json>, D::Error> {
        let raw: Option<Box<RawValue>> = Deserialize::deserialize(deserializer)?;
        let Some(raw) = raw else {
            return Ok(None);
        };
        if !raw.get().starts_with('{') {
            return Err(serde::de::Error::custom("extra is not an object"));
        }
        Json::parse(raw.get())
            .map(Some)
            .map_err(serde::de::Error::custom)
    }
}

fn ids(field: &'static str, ids: &[String]) -> Decoded<()> {
    ids.iter().try_for_each(|one| id(field, one))
}

impl Payload for TaskCreated {
    fn check(&self) -> Decoded<()> {
        self.owner
            .iter()
            .try_for_each(|owner| name("owner", owner))?;
        ids("depends_on", &self.depends_on)
    }
}

impl Payload for TaskUpdated {}

impl Payload for DepsChanged {
    fn check(&self) -> Decoded<()> {
        ids("depends_on", &self.depends_on)
    }
}

impl Payload for Resources {}

impl Payload for TaskBlocked {
    fn check(&self) -> Decoded<()> {
        ids("waits_for", &self.waits_for)
    }
}

impl Payload for TaskClaimed {
    fn check(&self) -> Decoded<()> {
        name("worker", &self.worker)?;
        id("token", &self.token)
    }
}

impl Payload for Lease {
    fn check(&self) -> Decoded<()> {
        self.held.check()
    }
}

impl Payload for Held {
    fn check(&self) -> Decoded<()> {
        name("worker", &self.worker)
    }
}

impl Payload for TaskCompleted {
    fn check(&self) -> Decoded<()> {
        self.held.check()
    }
}

impl Payload for TaskFailed {
    fn check(&self) -> Decoded<()> {
        self.held.check()
    }
}

impl Payload for TaskCanceled {}

impl TaskClaimed {
    /// That somebody took a task for a time, and what it must present.
    pub fn of(lease: Lease, token: String) -> TaskClaimed {
        TaskClaimed {
            worker: lease.held.worker,
            token,
            epoch: lease.held.epoch,
            leased_until: lease.leased_until,
        }
    }
}

impl TaskFact {
    /// That `act` was done to a task.
    pub fn of(task_id: impl Into<String>, act: TaskAct) -> TaskFact {
        let task_id = task_id.into();
        TaskFact { task_id, act }
    }

    /// What an event of that kind says; `None` where it is about something else than a task.
    pub(crate) fn parse(kind: &str, payload: &str) -> Option<Decoded<TaskFact>> {
        #[derive(Deserialize)]
        struct Named {
            task_id: String,
        }
        let act = TaskAct::parse(kind, payload)?;
        Some(act.and_then(|act| {
            let Named { task_id } = read(payload)?;
            name("task_id", &task_id)?;
            Ok(TaskFact { task_id, act })
        }))
    }

    /// The event that records it. `agent` is whom it concerns: the holder or the owner; `trace` is the task's story.
    pub fn event(&self, actor: &str, agent: Option<&str>, trace: Option<&str>) -> NewEvent {
        let mut event = event(self.act.kind(), actor, write(self));
        event.refs.set_given([
            (RefKind::Task, Some(&*self.task_id)),
            (RefKind::Agent, agent),
            (RefKind::Trace, trace),
        ]);
        event
    }
}
