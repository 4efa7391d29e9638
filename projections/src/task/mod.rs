//! Task snapshots, driven by messages under the monotonic guard, or by commands.
//!
//! A message applies only if its `(created_at, id)` is greater than that of the last one applied; any other stays in
//! the log, is marked as superseded, and changes nothing. Of a task that commands govern a message only reports.

mod commanded;
mod concern;
mod deps;
pub mod dialect;
pub mod field;
mod fold;
mod held;
mod news;
mod part;
mod query;
mod ready;
mod row;
pub mod transitions;
pub(crate) mod view;

use crate::event::StoredAttributes;
pub use crate::event::task as event;
pub use crate::event::task::{Status, TaskCounts};
pub use crate::event::{Attributes, TaskImported, in_edit};
pub use concern::{Concern, UnknownDep};
pub use field::TaskContext;
pub(crate) use fold::apply;
pub use held::HeldResources;
pub(crate) use news::news_of;
pub(crate) use query::all;
pub(crate) use row::status_in;
pub use view::ViewedTask;

use crate::event::message::Priority;
use crate::prelude::*;

/// How messages that arrive out of order are dealt with; the name in every snapshot.
pub const CONFLICT_POLICY: &str = "created_at_then_message_id_monotonic";

/// A task snapshot, as it is stored under its id.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize,
)]
pub struct Task {
    /// Its id.
    #[rkyv(with = Skip)]
    pub task_id: String,
    /// `created_at` of the first message applied.
    pub created_at: Timestamp,
    /// `created_at` of the last message applied.
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
    /// How far it is, as its reporter says it.
    #[rkyv(with = As<Option<String>>)]
    pub progress: Option<Json>,
    /// When it will be done, as its reporter says it.
    #[rkyv(with = As<Option<String>>)]
    pub eta: Option<Json>,
    /// Whether it was reported blocked.
    pub blocked: bool,
    /// The last note.
    pub note: Option<String>,
    /// The story it belongs to.
    pub trace_id: Option<String>,
    /// Who sent the last update applied.
    pub last_update_from: Option<String>,
    /// How urgent it is: the priority of its last assignment.
    pub priority: Priority,
    /// The tasks it waits for.
    pub deps: Vec<String>,
    /// Dependencies that would have closed a cycle, and were left out.
    pub ignored_deps: Vec<String>,
    /// Whether its status moves by claims only; messages then set the reported fields.
    pub claim_governed: bool,
    /// The status that a message reported of a claim-governed task.
    pub reported_status: Option<Status>,
    /// The owner that an assignment named for a claim-governed task.
    pub reported_owner: Option<String>,
    /// What messages said of a claim-governed task beside these.
    #[rkyv(with = As<Option<Box<Reported>>>)]
    pub reported: Reported,
    /// Counts applied task messages.
    pub snapshot_version: u64,
    /// Counts every applied mutation.
    pub version: u64,
    /// The last message applied.
    pub last_message_id: String,
    /// Its `created_at`.
    pub last_message_created_at: Timestamp,
    /// Seq of the last event that changed it.
    pub seq: u64,
    /// What only commands make of a task.
    #[rkyv(with = As<Option<Box<Governed>>>)]
    pub governed: Governed,
}

/// What messages said of a claim-governed task, which moved nothing. Each thing stays until it is said otherwise.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize,
)]
pub struct Reported {
    /// Whether it is blocked; a new claim takes that back.
    pub blocked: bool,
    /// How far it is.
    #[rkyv(with = As<Option<String>>)]
    pub progress: Option<Json>,
    /// When it will be done.
    #[rkyv(with = As<Option<String>>)]
    pub eta: Option<Json>,
    /// The last note.
    pub note: Option<String>,
    /// Who reported last.
    #[rkyv(with = As<String>)]
    pub by: Option<String>,
    /// When that was, by the message.
    #[rkyv(with = As<i64>)]
    pub at: Option<Timestamp>,
    /// The message whose status or owner the task does not have; none once a command changed the task's status.
    #[rkyv(with = As<u64>)]
    pub unapplied: Option<u64>,
}

/// What only commands make of a task.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize,
)]
pub struct Governed {
    /// Whether a command said any of it; most tasks of an imported history have none, and store none.
    #[rkyv(with = Skip)]
    pub known: bool,
    /// Its attributes.
    #[rkyv(with = As<StoredAttributes>)]
    pub attributes: Attributes,
    /// What its completion brought.
    pub result: Option<String>,
    /// Why it failed.
    pub error: Option<String>,
    /// When it was last claimed.
    pub started_at: Option<Timestamp>,
    /// When it was completed, failed or canceled.
    pub completed_at: Option<Timestamp>,
    /// How many claims it has had.
    pub epoch: u64,
    /// The last of them.
    pub claim: Option<Claim>,
    /// The paths that its holder may write, relative to the repository.
    pub resources: Vec<String>,
    /// Whether others may hold the same paths meanwhile, if somebody said.
    pub shared: Option<bool>,
    /// What else its creator said of it: a JSON object.
    #[rkyv(with = As<Option<String>>)]
    pub extra: Option<Json>,
}

/// A claim on a task.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct Claim {
    /// Who made it.
    pub owner: String,
    /// What its holder presents.
    pub token: String,
    /// It counts before that moment.
    pub leased_until: Timestamp,
    /// How it stands.
    pub state: ClaimState,
}

/// How a claim stands, as far as it is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub enum ClaimState {
    /// Its holder works on the task.
    Live,
    /// Its lease ran out.
    Expired,
    /// The task was completed, failed, released or canceled.
    Ended,
}

impl Stored<Option<Box<Reported>>> for Reported {
    fn stored(&self) -> Option<Box<Reported>> {
        self.by.is_some().then(|| Box::new(self.clone()))
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
    /// The claim under which somebody works on it, whether or not its lease ran out meanwhile.
    pub fn claim(&self) -> Option<&Claim> {
        let claim = self.governed.claim.as_ref()?;
        (claim.state == ClaimState::Live).then_some(claim)
    }

    /// Returns whether completing it needs an approval.
    pub fn requires_approval(&self) -> bool {
        self.governed.attributes.requires_approval == Some(true)
    }

    /// Whether the lease of that claim ran out by then, which no event says yet.
    pub fn lease_expired(&self, now: Timestamp) -> bool {
        self.claim().is_some_and(|claim| claim.leased_until <= now)
    }
}

/// Dependencies that will not be completed unless a person or an agent acts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnmetDeps {
    /// Those that failed or were canceled.
    pub failed: Vec<String>,
    /// Those that are no tasks of the team.
    pub unknown: Vec<String>,
}

/// Which tasks are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskFilter {
    /// Only those in that state.
    pub status: Option<Status>,
    /// Only those of that owner.
    pub owner: Option<String>,
}

/// Some tasks in natural order of their ids.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskPage {
    /// The tasks.
    pub tasks: Vec<Task>,
    /// Whether more follow; the last task's id is then the cursor.
    pub more: bool,
}
