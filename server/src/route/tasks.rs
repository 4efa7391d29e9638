//! Routes of tasks: create, read, claim, renew, complete and fail.

use super::problem::Problem;
use super::record::{Lease, Task, moment};
use super::request::RequestContext;
use crate::reply::Reply;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use teamlog_team::api::milliseconds;
use teamlog_team::doubts::TaskDoubts;
use teamlog_team::engine::Timestamp;
use teamlog_team::projections::task::{Attributes, UnmetDeps};
use teamlog_team::projections::{Live, Priority, Status};
use teamlog_team::resource::Overlap;
use teamlog_team::task::approval;
use teamlog_team::task::blocking;
use teamlog_team::task::claim::{ClaimAnswer, TaskClaim};
use teamlog_team::task::create::{TaskAnswer, TaskCreate};
use teamlog_team::task::finish::{HolderAnswer, TaskFinish};
use teamlog_team::task::holding;
use teamlog_team::task::list::Tasks;
use teamlog_team::task::listed::Listed;
use teamlog_team::task::read::ReadTask;
use teamlog_team::task::record::TaskRecord;
use teamlog_team::task::renew::{RenewAnswer, TaskRenew};
use teamlog_team::task::show::TaskShow;
use teamlog_team::{Code, Exchange, Result, Team};

/// Default duration of a lease in milliseconds.
const TTL_MS: u64 = 300_000;

/// `{task}`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TaskBody")]
pub struct OneTask {
    /// The task
    task: Task,
    /// Warnings about names in the request.
    #[serde(flatten)]
    doubts: NameDoubts,
}

/// Doubts about the names in a new task
#[derive(Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct NameDoubts {
    /// Dependencies that are no tasks of the team
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unknown_deps: Vec<String>,
    /// Warning that the owner never acted in the team, with the known agents
    #[serde(skip_serializing_if = "Option::is_none")]
    owner_unknown: Option<String>,
    /// Time at which the owner stopped, if the owner has not acted since
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Timestamp>")]
    owner_gone: Option<String>,
}

impl From<&TaskDoubts> for NameDoubts {
    fn from(doubts: &TaskDoubts) -> NameDoubts {
        NameDoubts {
            unknown_deps: doubts.unknown_deps.clone(),
            owner_unknown: doubts.owner_unknown.clone(),
            owner_gone: doubts.owner_gone.map(milliseconds),
        }
    }
}

impl From<Task> for OneTask {
    fn from(task: Task) -> OneTask {
        let doubts = NameDoubts::default();
        OneTask { task, doubts }
    }
}

/// `{taskId, task, lease}`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LeaseBody")]
pub struct Leased {
    /// Id of the task
    task_id: String,
    /// The task
    task: Task,
    /// Lease of the claim
    lease: Option<Lease>,
    /// Resources of other agents that overlap, if the team allows such a claim with a warning
    #[serde(skip_serializing_if = "Vec::is_empty")]
    overlaps: Vec<Overlap>,
}

/// `{tasks, nextCursor?}`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "TasksBody")]
pub struct SomeTasks {
    /// The tasks, in the requested order
    tasks: Vec<Task>,
    /// Cursor of the next page, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// `GET /v1/tasks`.
pub fn list(asked: Tasks, team: &mut Team) -> Result<SomeTasks, Problem> {
    let (page, now) = (team.tasks(asked.or_all())?, team.now());
    let (mut failed, mut unknown) = (page.failed_dependencies, page.unknown_dependencies);
    let (mut approvals, mut comments) = (page.approvals, page.comments);
    let shown = |task: Listed| {
        let unmet = UnmetDeps {
            failed: failed.remove(&task.task_id).unwrap_or_default(),
            unknown: unknown.remove(&task.task_id).unwrap_or_default(),
        };
        let approval = approvals.remove(&task.task_id);
        let comments = comments.remove(&task.task_id).unwrap_or_default();
        let record = TaskRecord::at(task.into_task(), unmet, now);
        Task(record.with_approval(approval).with_comments(comments))
    };
    Ok(SomeTasks {
        tasks: page.tasks.into_iter().map(shown).collect(),
        next_cursor: page.next_cursor,
    })
}

/// `GET /v1/tasks/{taskId}`.
pub fn show(asked: ReadTask, team: &mut Team) -> Result<OneTask, Problem> {
    let shown = team.task_show(TaskShow {
        task_id: asked.task_id,
        ..TaskShow::default()
    })?;
    let unmet = UnmetDeps {
        failed: shown.failed_dependencies,
        unknown: shown.unknown_dependencies,
    };
    let comments = shown.comments.map_or(0, |comments| comments.count);
    let record = TaskRecord::at(shown.task, unmet, team.now());
    let record = record.with_approval(shown.approval);
    Ok(Task(record.with_comments(comments)).into())
}

/// Fields of a new task.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateInput {
    /// Title, one line
    title: String,
    /// Description
    description: Option<String>,
    /// Tasks that must be completed first; they need not exist yet
    deps: Option<Vec<String>>,
    /// Paths that the task's holder may write, relative to the repository
    resources: Option<Vec<String>>,
    /// True if other tasks may use the same paths at the same time
    shared: Option<bool>,
    /// Agent that is to claim the task; default: any agent
    owner: Option<String>,
    /// Priority; default: `normal`
    #[schemars(with = "Option<Priority>")]
    priority: Option<String>,
    /// Attributes of the task
    #[serde(flatten)]
    attributes: Attributes,
    /// Labels of the task
    labels: Option<Vec<String>>,
    /// Time by which the task is to be completed: a time, a date, `today`, `tomorrow`, a weekday, or a duration such as `3d`
    due_at: Option<String>,
    /// Time before which the task is not offered, in the forms of `dueAt`
    defer_until: Option<String>,
    /// Task of which the new task is a part
    parent: Option<String>,
    /// Creator of the task
    agent_id: Option<String>,
}

/// `POST /v1/tasks`.
pub fn create(input: CreateInput, request: &mut RequestContext<'_>) -> Result<Reply, Problem> {
    request.actor.clone_from(&input.agent_id);
    request.exchange(input.command(), |live, answer: &TaskAnswer, now| {
        let task = task(live, &answer.task.task_id, now)?;
        let doubts = NameDoubts::from(&answer.doubts);
        Exchange::new(201, &OneTask { task, doubts })
    })
}

impl CreateInput {
    fn command(self) -> TaskCreate {
        TaskCreate {
            subject: self.title.trim().to_owned(),
            description: self.description.unwrap_or_default().trim().to_owned(),
            blocked_by: self.deps.map(names),
            owner: self.owner,
            priority: self.priority,
            attributes: self.attributes,
            resources: self.resources.map(names),
            shared: self.shared,
            labels: self.labels,
            due_at: self.due_at,
            defer_until: self.defer_until,
            parent: self.parent,
            ..TaskCreate::default()
        }
    }
}

/// Trims names and removes blank names.
pub fn names(given: Vec<String>) -> Vec<String> {
    let trimmed = given.iter().map(|name| name.trim());
    let some = trimmed.filter(|name| !name.is_empty());
    some.map(str::to_owned).collect()
}

/// A claim of a task.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimInput {
    /// Id of the task
    task_id: String,
    /// Agent that claims the task
    agent_id: String,
    /// Time to live of the lease, in milliseconds; default: five minutes
    #[schemars(range(min = 1_000, max = 86_400_000))]
    ttl_ms: Option<u64>,
    /// Version that the task must have
    #[schemars(range(min = 1))]
    expected_version: Option<u64>,
}

/// `POST /v1/tasks/{taskId}/claim`.
pub fn claim(input: ClaimInput, request: &mut RequestContext<'_>) -> Result<Reply, Problem> {
    let claim = TaskClaim {
        task_id: input.task_id,
        worker: input.agent_id,
        expected_version: input.expected_version,
        lease_ms: Some(input.ttl_ms.unwrap_or(TTL_MS)),
    };
    request.exchange(claim, |live, answer: &ClaimAnswer, now| {
        holding(live, &answer.task.task_id, &answer.overlaps, now)
    })
}

/// Error codes for a claim that is presented, in the order of the checks.
pub const HOLDING: &[Code] = &[
    Code::TaskNotFound,
    Code::EpochMismatch,
    Code::AlreadyTerminal,
    Code::ClaimConflict,
    Code::NotHolder,
    Code::LeaseExpired,
];

/// Error codes for completing a task, in the order of the checks.
pub const COMPLETING: &[Code] = &[
    Code::TaskNotFound,
    Code::EpochMismatch,
    Code::AlreadyTerminal,
    Code::ClaimConflict,
    Code::NotHolder,
    Code::LeaseExpired,
    Code::BlockedDependency,
    Code::ApprovalRequired,
];

/// Declares inputs that present a claim by its epoch.
macro_rules! presents {
    ($($(#[$about:meta])+ $input:ident { $($own:tt)+ })+) => {$(
        $(#[$about])+
        #[derive(Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $input {
            /// Id of the task
            task_id: String,
            /// Epoch of the claim
            epoch: u64,
            /// Agent that presents the claim; must be its holder
            agent_id: Option<String>,
            /// True to present the claim of another agent; the event records this. The epoch must still be the claim's epoch
            #[serde(default)]
            force: bool,
            $($own)+
        }
    )+};
}

presents! {
    /// Renewal of a claim.
    RenewInput {
        /// Minimum time until the lease ends, in milliseconds from now; default: five minutes
        #[schemars(range(min = 1_000, max = 86_400_000))]
        ttl_ms: Option<u64>,
    }

    /// Completion of a claimed task.
    CompleteInput {
        /// Result
        result: Option<String>,
    }

    /// Failure of a claimed task.
    FailInput {
        /// Reason of the failure
        error: Option<String>,
    }
}

/// `POST /v1/tasks/{taskId}/renew`.
pub fn renew(input: RenewInput, request: &mut RequestContext<'_>) -> Result<Reply, Problem> {
    let renew = TaskRenew {
        task_id: input.task_id,
        epoch: Some(input.epoch),
        worker: input.agent_id,
        force: input.force,
        lease_ms: Some(input.ttl_ms.unwrap_or(TTL_MS)),
        ..TaskRenew::default()
    };
    request.exchange(renew, |live, answer: &RenewAnswer, now| {
        holding(live, &answer.task.task_id, &[], now)
    })
}

/// `POST /v1/tasks/{taskId}/complete`.
pub fn complete(input: CompleteInput, request: &mut RequestContext<'_>) -> Result<Reply, Problem> {
    let complete = TaskFinish {
        task_id: input.task_id,
        from: Status::InProgress.name().to_owned(),
        to: Status::Completed.name().to_owned(),
        epoch: Some(input.epoch),
        worker: input.agent_id,
        force: input.force,
        result: input.result,
        ..TaskFinish::default()
    };
    request.exchange(complete, finished)
}

/// `POST /v1/tasks/{taskId}/fail`.
pub fn fail(input: FailInput, request: &mut RequestContext<'_>) -> Result<Reply, Problem> {
    let fail = TaskFinish {
        task_id: input.task_id,
        from: Status::InProgress.name().to_owned(),
        to: Status::Failed.name().to_owned(),
        epoch: Some(input.epoch),
        worker: input.agent_id,
        force: input.force,
        error: input.error,
        ..TaskFinish::default()
    };
    request.exchange(fail, finished)
}

fn task(live: &Live, id: &str, now: Timestamp) -> Result<Task> {
    match live.task(id)? {
        Some(task) => {
            let unmet = blocking::unmet_dependencies(live, &task)?;
            let approval = approval::last(live, id)?;
            let record = TaskRecord::at(task, unmet, now).with_approval(approval);
            Ok(Task(record.with_comments(live.comments(id)?)))
        }
        None => Err(holding::not_found(id).into()),
    }
}

fn holding(live: &Live, id: &str, overlaps: &[Overlap], now: Timestamp) -> Result<Exchange> {
    let task = task(live, id, now)?;
    let leased = Leased {
        task_id: task.0.task_id.clone(),
        lease: task.lease(),
        overlaps: overlaps.iter().map(overlap).collect(),
        task,
    };
    Exchange::new(200, &leased)
}

/// Converts an overlap to the field names of this API.
fn overlap(overlap: &Overlap) -> Overlap {
    Overlap {
        leased_until: moment(&overlap.leased_until),
        ..overlap.clone()
    }
}

fn finished(live: &Live, answer: &HolderAnswer, now: Timestamp) -> Result<Exchange> {
    let task = task(live, &answer.task.task_id, now)?;
    Exchange::new(200, &OneTask::from(task))
}
