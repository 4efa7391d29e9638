//! Task snapshots, changed by messages under the monotonic guard, or by commands.
//!
//! A message applies only if its `(created_at, id)` is greater than the pair of the last message that was applied. Any
//! other message stays in the log, is marked as superseded, and changes nothing. A message about a task that commands
//! govern is only a report.

mod commanded;
mod concern;
mod deps;
pub mod dialect;
pub mod field;
mod fold;
mod held;
mod news;
mod part;
mod plan;
mod query;
mod ready;
mod row;
mod terms;
pub mod transitions;
pub(crate) mod view;

use crate::event::StoredAttributes;
pub use crate::event::task as event;
pub use crate::event::task::{Status, TaskCounts};
pub use crate::event::{Attributes, PlanChange, TaskImported, in_edit};
pub use concern::{Concern, UnknownDep};
pub use field::TaskContext;
pub(crate) use fold::apply;
pub use held::HeldResources;
pub(crate) use news::news_of;
pub use plan::{Children, Plan};
pub(crate) use query::all;
pub(crate) use row::status_in;
pub(crate) use terms::{TASK_KIND, TASK_TERMS};
pub use view::ViewedTask;

use crate::event::message::Priority;
use crate::prelude::*;

/// The name of the rule for messages that arrive out of order. Every snapshot names this rule.
pub const CONFLICT_POLICY: &str = "created_at_then_message_id_monotonic";

/// A task snapshot, which is stored under the id of the task.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize,
)]
pub struct Task {
    /// Id of the task.
    #[rkyv(with = Skip)]
    pub task_id: String,
    /// `created_at` of the first applied message.
    pub created_at: Timestamp,
    /// `created_at` of the last applied message.
    pub updated_at: Timestamp,
    /// Agent that works on the task.
    pub owner: Option<String>,
    /// Agent that gave the task to the owner.
    pub assigned_by: Option<String>,
    /// Subject, in a line.
    pub subject: Option<String>,
    /// Description, at length.
    pub details: Option<String>,
    /// Status of the task.
    pub status: Status,
    /// Progress, as its reporter wrote it.
    #[rkyv(with = As<Option<String>>)]
    pub progress: Option<Json>,
    /// Expected time of completion, as its reporter wrote it.
    #[rkyv(with = As<Option<String>>)]
    pub eta: Option<Json>,
    /// True if a message reported the task blocked.
    pub blocked: bool,
    /// The last note.
    pub note: Option<String>,
    /// Trace that the task belongs to.
    pub trace_id: Option<String>,
    /// Sender of the last applied update.
    pub last_update_from: Option<String>,
    /// Priority of the last assignment.
    pub priority: Priority,
    /// Tasks that the task waits for.
    pub deps: Vec<String>,
    /// Dependencies that would have closed a cycle, and were left out.
    pub ignored_deps: Vec<String>,
    /// True if only claims move the status. Messages then set the reported fields.
    pub claim_governed: bool,
    /// Status that a message reported of a claim-governed task.
    pub reported_status: Option<Status>,
    /// Owner that an assignment named for a claim-governed task.
    pub reported_owner: Option<String>,
    /// Further reports about a claim-governed task.
    #[rkyv(with = As<Option<Box<Reported>>>)]
    pub reported: Reported,
    /// Number of applied task messages.
    pub snapshot_version: u64,
    /// Number of applied mutations.
    pub version: u64,
    /// Id of the last applied message.
    pub last_message_id: String,
    /// `created_at` of the last applied message.
    pub last_message_created_at: Timestamp,
    /// Seq of the last event that changed the task.
    pub seq: u64,
    /// Fields that only commands set.
    #[rkyv(with = As<Option<Box<Governed>>>)]
    pub governed: Governed,
}

/// Reports of messages about a claim-governed task, which do not change its status. Each field keeps its value until another
/// message sets it.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize,
)]
pub struct Reported {
    /// True if the task was reported blocked. A new claim resets the value.
    pub blocked: bool,
    /// Reported progress.
    #[rkyv(with = As<Option<String>>)]
    pub progress: Option<Json>,
    /// Reported time of completion.
    #[rkyv(with = As<Option<String>>)]
    pub eta: Option<Json>,
    /// The last reported note.
    pub note: Option<String>,
    /// Sender of the last report.
    #[rkyv(with = As<String>)]
    pub by: Option<String>,
    /// Time of the last report: the creation time of the message.
    #[rkyv(with = As<i64>)]
    pub at: Option<Timestamp>,
    /// Sender of the reported status, if another agent held the task.
    #[rkyv(with = As<String>)]
    pub status_by: Option<String>,
    /// Creation time of the message of `status_by`.
    #[rkyv(with = As<i64>)]
    pub status_at: Option<Timestamp>,
    /// Seq of the message whose status or owner was not applied to the task. Absent after a command changed the task's status.
    #[rkyv(with = As<u64>)]
    pub unapplied: Option<u64>,
}

/// Fields of a task that only commands set.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize,
)]
pub struct Governed {
    /// True if a command set any of the fields. Most tasks of an imported history have no such field, and store none.
    #[rkyv(with = Skip)]
    pub known: bool,
    /// Attributes of the task.
    #[rkyv(with = As<StoredAttributes>)]
    pub attributes: Attributes,
    /// Labels, times, parent and children.
    #[rkyv(with = As<Option<Box<Plan>>>)]
    pub plan: Plan,
    /// Result of the completion.
    pub result: Option<String>,
    /// Reason of the failure.
    pub error: Option<String>,
    /// Time of the last claim.
    pub started_at: Option<Timestamp>,
    /// Time at which the task was completed, failed or canceled.
    pub completed_at: Option<Timestamp>,
    /// Number of claims that the task has had.
    pub epoch: u64,
    /// The last claim.
    pub claim: Option<Claim>,
    /// Paths that the holder may write, relative to the repository.
    pub resources: Vec<String>,
    /// True if other agents may hold the same paths; absent if the task does not say.
    pub shared: Option<bool>,
    /// Further fields that the creator gave: a JSON object.
    #[rkyv(with = As<Option<String>>)]
    pub extra: Option<Json>,
}

/// A claim on a task.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct Claim {
    /// Holder of the claim.
    pub owner: String,
    /// Token that the holder presents.
    pub token: String,
    /// End of the lease.
    pub leased_until: Timestamp,
    /// State of the claim.
    pub state: ClaimState,
    /// Time of the claim, or of the claim's last renewal; 0 if the claim was read from JSON.
    pub leased_at: Timestamp,
    /// The session that made the claim, if known.
    pub session: Option<String>,
}

impl Claim {
    /// Returns true if the claim was made in another session than `session`. An unknown session does not count as another
    /// session.
    pub fn is_of_other_session(&self, session: Option<&str>) -> bool {
        let maker = self.session.as_deref();
        maker
            .zip(session)
            .is_some_and(|(maker, session)| maker != session)
    }
}

/// The recorded state of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub enum ClaimState {
    /// The holder works on the task.
    Live,
    /// The lease ran out.
    Expired,
    /// The task was completed, failed, released or canceled.
    Ended,
}

impl Stored<Option<Box<Reported>>> for Reported {
    fn stored(&self) -> Option<Box<Reported>> {
        let is_reported = self.by.is_some() || self.status_by.is_some();
        is_reported.then(|| Box::new(self.clone()))
    }
    fn found(stored: Option<Box<Reported>>) -> Reported {
        stored.map(|reported| *reported).unwrap_or_default()
    }
}

impl Stored<Option<Box<Governed>>> for Governed {
    fn stored(&self) -> Option<Box<Governed>> {
        self.known.then(|| Box::new(self.clone()))
    }
    fn found(stored: Option<Box<Governed>>) -> Governed {
        let known = stored.is_some();
        let governed = stored.map(|governed| *governed).unwrap_or_default();
        Governed { known, ..governed }
    }
}

impl Task {
    /// Returns the live claim. The lease of the claim may have run out meanwhile.
    pub fn claim(&self) -> Option<&Claim> {
        let claim = self.governed.claim.as_ref()?;
        (claim.state == ClaimState::Live).then_some(claim)
    }

    /// Returns true if the task is not offered at `now`: the task is deferred, or one of its children is unfinished.
    pub fn is_held_back(&self, now: Timestamp) -> bool {
        let plan = &self.governed.plan;
        plan.children.open > 0 || plan.defer_until.is_some_and(|until| until > now)
    }

    /// Returns true if completing the task needs an approval.
    pub fn requires_approval(&self) -> bool {
        self.governed.attributes.requires_approval == Some(true)
    }

    /// Returns true if the lease of the live claim ran out by `now`, but no event records this yet.
    pub fn lease_expired(&self, now: Timestamp) -> bool {
        self.claim().is_some_and(|claim| claim.leased_until <= now)
    }
}

/// Dependencies that will not be completed unless a person or an agent acts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnmetDeps {
    /// Dependencies that failed or were canceled.
    pub failed: Vec<String>,
    /// Dependencies that are no tasks of the team.
    pub unknown: Vec<String>,
}

/// A filter of tasks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskFilter {
    /// Limit to tasks with this status.
    pub status: Option<Status>,
    /// Limit to tasks of this owner.
    pub owner: Option<String>,
    /// Only tasks with this label.
    pub label: Option<String>,
    /// Only the children of this task.
    pub parent: Option<String>,
}

impl TaskFilter {
    /// Returns true if the filter names a label or a parent.
    fn is_of_plan(&self) -> bool {
        self.label.is_some() || self.parent.is_some()
    }

    /// Returns true if the task passes the filter.
    pub fn passes(&self, task: &Task) -> bool {
        let plan = &task.governed.plan;
        let is = |wanted: &Option<String>, is: &Option<String>| wanted.is_none() || wanted == is;
        self.status.is_none_or(|status| status == task.status)
            && is(&self.owner, &task.owner)
            && is(&self.parent, &plan.parent)
            && self
                .label
                .as_ref()
                .is_none_or(|label| plan.labels.contains(label))
    }
}

/// A page of tasks in natural order of their ids.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskPage {
    /// Tasks of the page.
    pub tasks: Vec<Task>,
    /// True if more tasks follow; the last task's id is then the cursor.
    pub more: bool,
}
