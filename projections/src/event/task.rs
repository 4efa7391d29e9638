//! Events of a task, and the JSON of their payloads.

use super::message::Priority;
use super::stored::{json, or_default};
use super::*;
use serde::de::Error;
use serde::{Deserializer, Serializer};

words! {
    /// The state of a task.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
    #[repr(u8)]
    pub enum Status {
        /// The task is open and has no worker.
        #[default]
        Pending = "pending",
        /// The task waits for something.
        Blocked = "blocked",
        /// The task was given to its owner.
        Assigned = "assigned",
        /// The owner works on the task.
        InProgress = "in_progress",
        /// The task is done.
        Completed = "completed" | "done",
        /// The task was given up with an error.
        Failed = "failed",
        /// The task will not be done.
        Canceled = "canceled" | "skipped" | "cancelled",
    }
}

impl Status {
    /// Returns true if nothing is left to do.
    pub fn is_final(self) -> bool {
        matches!(self, Status::Completed | Status::Failed | Status::Canceled)
    }
}

#[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
/// The number of tasks in each state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TaskCounts {
    /// Number of tasks of each status, indexed by [`Status`].
    pub by_status: [u64; 7],
}

impl TaskCounts {
    /// Returns the number of all tasks.
    pub fn total(&self) -> u64 {
        self.by_status.iter().sum()
    }
}

events! {
    /// An event of a task.
    #[derive(Serialize)]
    #[serde(untagged)]
    pub enum TaskAct of TaskFact { task_id } {
        /// A claim-governed task was created.
        "task_created" by "teamlog api create-task" => Created: TaskCreated [name owner, id depends_on, payload plan] {
            /// Subject of the task, in a line.
            pub subject: String,
            /// Full description of the task.
            pub description: String,
            /// True if the task starts as `blocked`.
            #[serde(rename = "status", with = "blocked")]
            pub blocked: bool,
            /// The agent that is to take the task.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub owner: Option<String>,
            /// The tasks that the task waits for.
            pub depends_on: Vec<String>,
            /// Attributes of the task.
            #[serde(flatten)]
            pub attributes: Attributes,
            /// Plan of the task.
            #[serde(flatten)]
            pub plan: PlanChange,
            /// Priority of the task.
            #[serde(
                default,
                deserialize_with = "or_default",
                skip_serializing_if = "is_normal"
            )]
            pub priority: Priority,
            /// The paths that its holder may write.
            #[serde(flatten)]
            pub resources: Resources,
            /// Further data from the task's creator: a JSON object.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[serde(serialize_with = "json::serialize", deserialize_with = "object")]
            pub extra: Option<Json>,
        },
        /// A task was imported from a snapshot without messages.
        "task_imported" by "teamlog import TEAM" => Imported(TaskImported),
        /// A task's texts, priority, plan or attributes changed.
        "task_updated" by "teamlog api update-task" => Updated:
        /// New values of a task's fields. An absent field stays unchanged.
        #[derive(Default)]
        TaskUpdated [payload plan] {
            /// Subject of the task, in a line.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub subject: Option<String>,
            /// Full description of the task.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub description: Option<String>,
            /// Attributes of the task.
            #[serde(flatten)]
            pub attributes: Attributes,
            /// Parts of the plan of the task.
            #[serde(flatten)]
            pub plan: PlanChange,
            /// Priority of the task.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub priority: Option<Priority>,
            /// True if another agent held the task, and the edit used force.
            #[serde(default, skip_serializing_if = "std::ops::Not::not")]
            pub forced: bool,
        },
        /// A task was assigned to an owner, or to no owner, without a claim. The owner still has to claim the task.
        "task_assigned" by "teamlog assign TASK AGENT" => Assigned: TaskAssigned [name owner] {
            /// The agent that is to take the task; any agent if absent.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub owner: Option<String>,
            /// The holder whose claim this assignment ended, and the epoch of that claim.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub taken_from: Option<ClaimRef>,
            /// New epoch of the task, if the assignment ended a claim.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub epoch: Option<u64>,
        },
        /// A task's dependencies changed.
        "task_deps_changed" by "teamlog api update-task" => DepsChanged: DepsChanged [id depends_on] {
            /// The tasks that the task waits for.
            pub depends_on: Vec<String>,
        },
        /// The paths that a task's holder may write changed.
        "resource_declared" by "teamlog task resources" => ResourcesDeclared:
        /// The paths that a task declares. `task_created` has these fields, too.
        #[derive(Default)]
        Resources {
            /// Paths and patterns, relative to the repository.
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            pub resources: Vec<String>,
            /// True if other tasks may hold these paths at the same time; `None` if not declared.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub shared: Option<bool>,
        },
        /// A task began to wait for other tasks.
        "task_blocked" by "teamlog api update-task" => Blocked: TaskBlocked [id waits_for] {
            /// The tasks that the task waits for.
            pub waits_for: Vec<String>,
        },
        /// The last dependency of a task was completed.
        "task_unblocked" by "teamlog task complete TEAM ID" => Unblocked,
        /// An agent claimed a task; the event has token, lease and epoch.
        "task_claimed" by "teamlog task claim TEAM ID" => Claimed: TaskClaimed [name worker, id token] {
            /// The holder.
            pub worker: String,
            /// The token that the holder must present.
            pub token: String,
            /// The number of the claim among the task's claims, from 1.
            pub epoch: u64,
            /// End of the claim. The claim counts before this moment.
            pub leased_until: Timestamp,
            /// The session that made the claim, if known.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub session: Option<String>,
        },
        /// A lease was prolonged.
        "task_renewed" by "teamlog task renew TEAM ID" => Renewed:
        /// A claim, and the end of its lease.
        Lease [payload held] {
            /// The holder and the number of its claim.
            #[serde(flatten)]
            pub held: ClaimRef,
            /// End of the claim. The claim counts before this moment.
            pub leased_until: Timestamp,
        },
        /// A task was completed by the holder of its claim.
        "task_completed" by "teamlog task complete TEAM ID" => Completed: TaskCompleted [payload held] {
            /// The claim that ended.
            #[serde(flatten)]
            pub held: ClaimRef,
            /// Result of the task.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub result: Option<String>,
        },
        /// A task was failed by the holder of its claim.
        "task_failed" by "teamlog task fail TEAM ID" => Failed: TaskFailed [payload held] {
            /// The claim that ended.
            #[serde(flatten)]
            pub held: ClaimRef,
            /// Reason of the failure.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub error: Option<String>,
        },
        /// A claim was given back; the task is pending again.
        "task_released" by "teamlog task release TEAM ID" => Released:
        /// A claim: its holder and its number.
        ClaimRef [name worker] {
            /// The holder.
            pub worker: String,
            /// The number of the claim among the task's claims, from 1.
            pub epoch: u64,
            /// True if an agent acted on the claim without a proof that the agent is the holder.
            #[serde(default, skip_serializing_if = "std::ops::Not::not")]
            pub forced: bool,
        },
        /// A task was canceled.
        "task_canceled" by "teamlog task cancel TEAM ID" => Canceled:
        #[derive(Default)]
        TaskCanceled {
            /// Reason of the cancellation.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub reason: Option<String>,
            /// True if the cancellation also ended another agent's claim.
            #[serde(default, skip_serializing_if = "std::ops::Not::not")]
            pub forced: bool,
        },
        /// A failed task is pending again.
        "task_reopened" by "teamlog task reopen TEAM ID" => Reopened,
        /// A lease ran out; the task is pending again.
        "task_lease_expired" by "teamlog tick TEAM" => LeaseExpired(Lease),
    }
}

fn is_normal(priority: &Priority) -> bool {
    *priority == Priority::Normal
}

/// Stores the field `blocked` as the first status of the task.
mod blocked {
    use super::*;

    pub fn serialize<S: Serializer>(blocked: &bool, to: S) -> Result<S::Ok, S::Error> {
        match blocked {
            true => Status::Blocked.serialize(to),
            false => Status::Pending.serialize(to),
        }
    }
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
        match Status::deserialize(from)? {
            Status::Pending => Ok(false),
            Status::Blocked => Ok(true),
            _ => Err(Error::custom("status is neither pending nor blocked")),
        }
    }
}

fn object<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Json>, D::Error> {
    let raw: Option<Box<RawValue>> = Deserialize::deserialize(from)?;
    if raw.as_ref().is_some_and(|raw| !raw.get().starts_with('{')) {
        return Err(Error::custom("extra is not an object"));
    }
    let json = raw.map(|raw| Json::parse(raw.get()).map_err(Error::custom));
    json.transpose()
}

impl TaskClaimed {
    /// Creates the event of a claim with its lease and token.
    pub fn new(lease: Lease, token: String) -> TaskClaimed {
        TaskClaimed {
            worker: lease.held.worker,
            token,
            epoch: lease.held.epoch,
            leased_until: lease.leased_until,
            session: None,
        }
    }

    /// Adds the session that makes the claim.
    pub fn in_session(self, session: Option<String>) -> TaskClaimed {
        TaskClaimed { session, ..self }
    }
}

impl TaskFact {
    /// Creates the fact that `act` happened to a task.
    pub fn new(task_id: impl Into<String>, act: TaskAct) -> TaskFact {
        let task_id = task_id.into();
        TaskFact { task_id, act }
    }

    /// Builds the event that records the fact. `agent` is the agent that the event concerns, the holder or the owner; `trace` is
    /// the trace id of the task.
    pub fn event(&self, actor: &str, agent: Option<&str>, trace: Option<&str>) -> NewEvent {
        let refs = [
            (RefKind::Task, Some(&*self.task_id)),
            (RefKind::Agent, agent),
            (RefKind::Trace, trace),
        ];
        event(self.act.kind(), actor, write(self), refs)
    }
}
