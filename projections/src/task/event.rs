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
use crate::fact::stored::{Decoded, id, read, write};
use crate::message::{Names, Priority, check_name};
use crate::task::Status;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use teamlog_engine::{Json, NewEvent, RefKind, Timestamp};

/// The kinds that [`parse`] knows.
pub(crate) const KINDS: &[&str] = &[
    "task_created",
    "task_updated",
    "task_deps_changed",
    "resource_declared",
    "task_blocked",
    "task_unblocked",
    "task_claimed",
    "task_renewed",
    "task_completed",
    "task_failed",
    "task_released",
    "task_canceled",
    "task_reopened",
    "task_lease_expired",
];

/// What a command did to a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskFact {
    /// The task.
    pub task_id: String,
    /// What was done.
    pub act: TaskAct,
}

/// One thing that happens to a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskAct {
    /// It came into the world.
    Created(TaskCreated),
    /// What it is about changed; also the new version of a change of dependencies alone.
    Updated(TaskUpdated),
    /// It waits for other tasks than before.
    DepsChanged(Vec<String>),
    /// Its holder may write other paths than before.
    ResourcesDeclared(Resources),
    /// It began to wait for those.
    Blocked(Vec<String>),
    /// It waits for nothing any more.
    Unblocked,
    /// A worker took it.
    Claimed(TaskClaimed),
    /// Its lease was prolonged.
    Renewed(Lease),
    /// Its holder completed it, perhaps with a result.
    Completed(Held, Option<String>),
    /// Its holder gave it up, perhaps with an error.
    Failed(Held, Option<String>),
    /// Its holder gave it back.
    Released(Held),
    /// It is not to be done.
    Canceled(TaskCanceled),
    /// Failed, it is to be done after all.
    Reopened,
    /// The lease of its claim ran out.
    LeaseExpired(Lease),
}

/// `task_created`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskCreated {
    /// What it is, in a line.
    pub subject: String,
    /// What it is, at length.
    pub description: String,
    /// Whether it begins waiting for others.
    pub blocked: bool,
    /// Who is to take it.
    pub owner: Option<String>,
    /// The tasks it waits for.
    pub depends_on: Vec<String>,
    /// Whether it cannot be done without changing code.
    pub requires_code_change: Option<bool>,
    /// How urgent it is.
    pub priority: Priority,
    /// The paths that its holder may write.
    pub resources: Resources,
    /// What else its creator said of it: a JSON object.
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

/// `task_claimed`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskClaimed {
    /// Who holds it, until when, and how many claims the task has had.
    pub lease: Lease,
    /// What the holder must present.
    pub token: String,
}

/// A claim for a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The holder and the number of its claim.
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

#[derive(Deserialize)]
struct Named {
    task_id: String,
}

#[derive(Serialize)]
struct Whole<'a, T> {
    task_id: &'a str,
    #[serde(flatten)]
    act: T,
}

#[derive(Serialize, Deserialize)]
struct StoredCreated {
    subject: String,
    description: String,
    status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    depends_on: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    requires_code_change: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    priority: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    resources: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shared: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    extra: Option<Box<RawValue>>,
}

#[derive(Serialize, Deserialize)]
struct StoredDeps {
    depends_on: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct StoredBlocked {
    waits_for: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct StoredLease {
    worker: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    epoch: u64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    forced: bool,
    leased_until: String,
}

#[derive(Serialize, Deserialize)]
struct StoredEnd {
    worker: String,
    epoch: u64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    forced: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    result: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Serialize)]
struct StoredNothing {}

pub(crate) fn parse(kind: &str, payload: &str) -> Decoded<TaskFact> {
    let Named { task_id } = read(payload)?;
    name("task_id", &task_id)?;
    let act = match kind {
        "task_created" => TaskAct::Created(created(payload)?),
        "task_updated" => TaskAct::Updated(read(payload)?),
        "task_deps_changed" => {
            TaskAct::DepsChanged(ids("depends_on", read::<StoredDeps>(payload)?.depends_on)?)
        }
        "resource_declared" => TaskAct::ResourcesDeclared(read(payload)?),
        "task_blocked" => {
            TaskAct::Blocked(ids("waits_for", read::<StoredBlocked>(payload)?.waits_for)?)
        }
        "task_unblocked" => TaskAct::Unblocked,
        "task_claimed" => claimed(payload)?,
        "task_renewed" => TaskAct::Renewed(lease(read(payload)?)?),
        "task_lease_expired" => TaskAct::LeaseExpired(lease(read(payload)?)?),
        "task_completed" => {
            let (held, result, _) = ended(payload)?;
            TaskAct::Completed(held, result)
        }
        "task_failed" => {
            let (held, _, error) = ended(payload)?;
            TaskAct::Failed(held, error)
        }
        "task_released" => TaskAct::Released(ended(payload)?.0),
        "task_canceled" => TaskAct::Canceled(read(payload)?),
        "task_reopened" => TaskAct::Reopened,
        kind => return Err(format!("{kind} is not known")),
    };
    Ok(TaskFact { task_id, act })
}

fn created(payload: &str) -> Decoded<TaskCreated> {
    let stored: StoredCreated = read(payload)?;
    if let Some(owner) = &stored.owner {
        name("owner", owner)?;
    }
    let blocked = match Status::from_name(&stored.status) {
        Some(Status::Pending) => false,
        Some(Status::Blocked) => true,
        _ => return Err("status is neither pending nor blocked".to_owned()),
    };
    let priority = match &stored.priority {
        None => Priority::Normal,
        Some(name) => Priority::from_name(name).ok_or("priority is not known")?,
    };
    let extra = match stored.extra {
        None => None,
        Some(raw) if raw.get().starts_with('{') => {
            Some(Json::parse(raw.get()).map_err(|error| error.to_string())?)
        }
        Some(_) => return Err("extra is not an object".to_owned()),
    };
    Ok(TaskCreated {
        subject: stored.subject,
        description: stored.description,
        blocked,
        owner: stored.owner,
        depends_on: ids("depends_on", stored.depends_on)?,
        requires_code_change: stored.requires_code_change,
        priority,
        resources: Resources {
            resources: stored.resources,
            shared: stored.shared,
        },
        extra,
    })
}

fn claimed(payload: &str) -> Decoded<TaskAct> {
    let mut stored: StoredLease = read(payload)?;
    let token = stored.token.take().ok_or("token is missing")?;
    id("token", &token)?;
    let lease = lease(stored)?;
    Ok(TaskAct::Claimed(TaskClaimed { lease, token }))
}

fn lease(stored: StoredLease) -> Decoded<Lease> {
    name("worker", &stored.worker)?;
    Ok(Lease {
        held: Held {
            worker: stored.worker,
            epoch: stored.epoch,
            forced: stored.forced,
        },
        leased_until: Timestamp::from_canonical(stored.leased_until.as_bytes())
            .ok_or("leased_until is not a time")?,
    })
}

fn ended(payload: &str) -> Decoded<(Held, Option<String>, Option<String>)> {
    let stored: StoredEnd = read(payload)?;
    name("worker", &stored.worker)?;
    let held = Held {
        worker: stored.worker,
        epoch: stored.epoch,
        forced: stored.forced,
    };
    Ok((held, stored.result, stored.error))
}

fn name(field: &'static str, value: &str) -> Decoded<()> {
    check_name(field, value, Names::Imported).map_err(|error| error.to_string())
}

fn ids(field: &'static str, ids: Vec<String>) -> Decoded<Vec<String>> {
    ids.iter().try_for_each(|one| id(field, one))?;
    Ok(ids)
}

impl TaskFact {
    /// That `act` was done to a task.
    pub fn of(task_id: impl Into<String>, act: TaskAct) -> TaskFact {
        let task_id = task_id.into();
        TaskFact { task_id, act }
    }

    /// The kind of the event that records it.
    pub fn kind(&self) -> &'static str {
        match self.act {
            TaskAct::Created(_) => "task_created",
            TaskAct::Updated(_) => "task_updated",
            TaskAct::DepsChanged(_) => "task_deps_changed",
            TaskAct::ResourcesDeclared(_) => "resource_declared",
            TaskAct::Blocked(_) => "task_blocked",
            TaskAct::Unblocked => "task_unblocked",
            TaskAct::Claimed(_) => "task_claimed",
            TaskAct::Renewed(_) => "task_renewed",
            TaskAct::Completed(..) => "task_completed",
            TaskAct::Failed(..) => "task_failed",
            TaskAct::Released(_) => "task_released",
            TaskAct::Canceled(_) => "task_canceled",
            TaskAct::Reopened => "task_reopened",
            TaskAct::LeaseExpired(_) => "task_lease_expired",
        }
    }

    /// The event that records it. `agent` is whom it concerns: the holder or the owner; `trace` is the task's story.
    pub fn event(&self, actor: &str, agent: Option<&str>, trace: Option<&str>) -> NewEvent {
        let mut event = event(self.kind(), actor, self.payload());
        event.refs.set(RefKind::Task, self.task_id.clone());
        for (kind, value) in [(RefKind::Agent, agent), (RefKind::Trace, trace)] {
            if let Some(value) = value {
                event.refs.set(kind, value.to_owned());
            }
        }
        event
    }

    fn payload(&self) -> Json {
        match &self.act {
            TaskAct::Created(created) => self.whole(StoredCreated::of(created)),
            TaskAct::Updated(updated) => self.whole(updated),
            TaskAct::DepsChanged(deps) => self.whole(StoredDeps {
                depends_on: deps.clone(),
            }),
            TaskAct::ResourcesDeclared(declared) => self.whole(declared),
            TaskAct::Blocked(deps) => self.whole(StoredBlocked {
                waits_for: deps.clone(),
            }),
            TaskAct::Claimed(TaskClaimed { lease, token }) => self.whole(StoredLease {
                token: Some(token.clone()),
                ..StoredLease::of(lease)
            }),
            TaskAct::Renewed(lease) | TaskAct::LeaseExpired(lease) => {
                self.whole(StoredLease::of(lease))
            }
            TaskAct::Completed(held, result) => self.whole(StoredEnd {
                result: result.clone(),
                ..StoredEnd::of(held)
            }),
            TaskAct::Failed(held, error) => self.whole(StoredEnd {
                error: error.clone(),
                ..StoredEnd::of(held)
            }),
            TaskAct::Released(held) => self.whole(held),
            TaskAct::Canceled(canceled) => self.whole(canceled),
            TaskAct::Unblocked | TaskAct::Reopened => self.whole(StoredNothing {}),
        }
    }

    fn whole(&self, act: impl Serialize) -> Json {
        write(&Whole {
            task_id: &self.task_id,
            act,
        })
    }
}

impl StoredCreated {
    fn of(created: &TaskCreated) -> StoredCreated {
        let status = match created.blocked {
            true => Status::Blocked,
            false => Status::Pending,
        };
        let urgent = created.priority != Priority::Normal;
        StoredCreated {
            subject: created.subject.clone(),
            description: created.description.clone(),
            status: status.name().to_owned(),
            owner: created.owner.clone(),
            depends_on: created.depends_on.clone(),
            requires_code_change: created.requires_code_change,
            priority: urgent.then(|| created.priority.name().to_owned()),
            resources: created.resources.resources.clone(),
            shared: created.resources.shared,
            extra: created
                .extra
                .as_ref()
                .and_then(|extra| RawValue::from_string(extra.as_str().to_owned()).ok()),
        }
    }
}

impl StoredLease {
    fn of(lease: &Lease) -> StoredLease {
        StoredLease {
            worker: lease.held.worker.clone(),
            token: None,
            epoch: lease.held.epoch,
            forced: lease.held.forced,
            leased_until: lease.leased_until.to_string(),
        }
    }
}

impl StoredEnd {
    fn of(held: &Held) -> StoredEnd {
        StoredEnd {
            worker: held.worker.clone(),
            epoch: held.epoch,
            forced: held.forced,
            result: None,
            error: None,
        }
    }
}
