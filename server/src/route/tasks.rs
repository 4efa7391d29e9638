//! Tasks: made, read, claimed, and moved by whoever holds them.

use super::endpoint::{Endpoint, Facts};
use super::problem::Problem;
use super::record::{Lease, Task, moment};
use super::request::RequestContext;
use crate::reply::Reply;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use teamlog_team::engine::Timestamp;
use teamlog_team::projections::{Live, Priority, Status};
use teamlog_team::resource::Overlap;
use teamlog_team::task::blocking;
use teamlog_team::task::claim::{ClaimAnswer, TaskClaim};
use teamlog_team::task::create::{TaskAnswer, TaskCreate};
use teamlog_team::task::fenced::Fence;
use teamlog_team::task::finish::HolderAnswer;
use teamlog_team::task::holding;
use teamlog_team::task::list::Tasks;
use teamlog_team::task::listed::Listed;
use teamlog_team::task::renew::RenewAnswer;
use teamlog_team::task::show::TaskShow;
use teamlog_team::{Exchange, Result};

/// How long a lease lasts unless the caller says otherwise.
const TTL_MS: u64 = 300_000;

/// `{task}`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TaskBody")]
pub struct OneTask {
    /// The task
    task: Task,
}

/// `{taskId, task, lease}`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LeaseBody")]
pub struct Leased {
    /// The task's id
    task_id: String,
    /// The task
    task: Task,
    /// The claim
    lease: Option<Lease>,
    /// What others hold of the same paths, where that is allowed with a warning
    #[serde(skip_serializing_if = "Vec::is_empty")]
    overlaps: Vec<Overlap>,
}

/// `GET /v1/tasks`.
pub struct List;

/// Which tasks.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListInput {
    /// Only those in that state
    #[schemars(with = "Option<Status>")]
    status: Option<String>,
    /// Only those of that owner
    owner: Option<String>,
    /// Most tasks on the page; else all
    #[schemars(range(min = 1, max = 1_000))]
    limit: Option<usize>,
    /// The last id of the page before
    cursor: Option<String>,
}

/// `{tasks, nextCursor?}`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "TasksBody")]
pub struct SomeTasks {
    /// The tasks, in natural order of their ids
    tasks: Vec<Task>,
    /// The last id of the page while more remain
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl Endpoint for List {
    type Input = ListInput;
    type Answer = SomeTasks;
    const FACTS: Facts = Facts::get(
        "/v1/tasks",
        "listTasks",
        "The tasks of the team, in natural order of their ids",
    )
    .codes(&["cursor_unknown"]);

    fn answer(
        input: ListInput,
        request: &mut RequestContext<'_>,
    ) -> std::result::Result<Reply, Problem> {
        let now = request.now();
        request.look(|team| {
            let page = team.tasks(Tasks {
                status: input.status,
                owner: input.owner,
                limit: Some(input.limit.unwrap_or(0)),
                cursor: input.cursor,
            })?;
            let mut failed = page.failed_dependencies;
            let shown = |task: Listed| {
                let failed = failed.remove(&task.task_id).unwrap_or_default();
                Task::of(task.into_task(), failed, now)
            };
            Ok(SomeTasks {
                tasks: page.tasks.into_iter().map(shown).collect(),
                next_cursor: page.next_cursor,
            })
        })
    }
}

/// `GET /v1/tasks/{taskId}`.
pub struct Show;

/// Which task.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ShowInput {
    /// The task
    task_id: String,
}

impl Endpoint for Show {
    type Input = ShowInput;
    type Answer = OneTask;
    const FACTS: Facts =
        Facts::get("/v1/tasks/{taskId}", "getTask", "One task").codes(&["task_not_found"]);

    fn answer(
        input: ShowInput,
        request: &mut RequestContext<'_>,
    ) -> std::result::Result<Reply, Problem> {
        let now = request.now();
        request.look(|team| {
            let shown = team.task_show(TaskShow {
                task_id: input.task_id,
                ..TaskShow::default()
            })?;
            Ok(OneTask {
                task: Task::of(shown.task, shown.failed_dependencies, now),
            })
        })
    }
}

/// `POST /v1/tasks`.
pub struct Create;

/// What the task is about.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct CreateInput {
    /// What it is, in a line
    title: String,
    /// What it is, at length
    description: Option<String>,
    /// The tasks it waits for; they need not exist yet
    deps: Option<Vec<String>>,
    /// The paths that its holder may write to, relative to the repository
    resources: Option<Vec<String>>,
    /// Whether others may hold the same paths meanwhile
    shared: Option<bool>,
    /// Who is to take it; else whoever wants it
    owner: Option<String>,
    /// How urgent it is; else `normal`
    #[schemars(with = "Option<Priority>")]
    priority: Option<String>,
    /// Who makes it
    agent_id: Option<String>,
}

impl Endpoint for Create {
    type Input = CreateInput;
    type Answer = OneTask;
    const FACTS: Facts = Facts::post("/v1/tasks", "createTask", "Make a task")
        .status(201)
        .codes(&["dependency_cycle", "worker_not_found", "budget_exceeded"]);

    fn answer(
        input: CreateInput,
        request: &mut RequestContext<'_>,
    ) -> std::result::Result<Reply, Problem> {
        request.actor.clone_from(&input.agent_id);
        let team = request.team()?;
        request.exchange(team, input.command(), |live, answer: &TaskAnswer, now| {
            let task = task(live, &answer.task.id, now)?;
            Exchange::of(Create::FACTS.status, &OneTask { task })
        })
    }
}

impl CreateInput {
    fn command(self) -> TaskCreate {
        TaskCreate {
            subject: self.title.trim().to_owned(),
            description: self.description.unwrap_or_default().trim().to_owned(),
            blocked_by: self.deps.map(names),
            owner: self.owner,
            priority: self.priority,
            resources: self.resources.map(names),
            shared: self.shared,
            ..TaskCreate::default()
        }
    }
}

/// Names without the white space around them; what is blank is none.
pub fn names(given: Vec<String>) -> Vec<String> {
    let trimmed = given.iter().map(|name| name.trim());
    let some = trimmed.filter(|name| !name.is_empty());
    some.map(str::to_owned).collect()
}

/// `POST /v1/tasks/{taskId}/claim`.
pub struct Claim;

/// Who takes which task.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ClaimInput {
    /// The task
    task_id: String,
    /// Who takes it
    agent_id: String,
    /// How long the claim counts unless it is renewed, in milliseconds; else five minutes
    #[schemars(range(min = 1_000, max = 86_400_000))]
    ttl_ms: Option<u64>,
    /// The version that the task must have
    #[schemars(range(min = 1))]
    expected_version: Option<u64>,
}

impl Endpoint for Claim {
    type Input = ClaimInput;
    type Answer = Leased;
    const FACTS: Facts = Facts::post(
        "/v1/tasks/{taskId}/claim",
        "claimTask",
        "Take a task, for a time",
    )
    .codes(&[
        "task_not_found",
        "worker_not_found",
        "already_terminal",
        "claim_conflict",
        "lease_expired",
        "blocked_dependency",
        "resource_conflict",
        "budget_exceeded",
    ]);

    fn answer(
        input: ClaimInput,
        request: &mut RequestContext<'_>,
    ) -> std::result::Result<Reply, Problem> {
        let team = request.team()?;
        let job = team.claim_job(TaskClaim {
            task_id: input.task_id,
            worker: input.agent_id,
            expected_version: input.expected_version,
            lease_ms: Some(input.ttl_ms.unwrap_or(TTL_MS)),
        });
        request.exchange(team, job, leased)
    }
}

/// `POST /v1/tasks/{taskId}/renew`.
pub struct Renew;

/// Which claim is to last.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct RenewInput {
    /// The task
    task_id: String,
    /// The number of the claim
    epoch: u64,
    /// Who presents it; if given it must be the one who holds it
    agent_id: Option<String>,
    /// Whether it may be somebody else's; recorded. The epoch must be right all the same
    #[serde(default)]
    force: bool,
    /// How long the claim counts from now on at least, in milliseconds; else five minutes
    #[schemars(range(min = 1_000, max = 86_400_000))]
    ttl_ms: Option<u64>,
}

/// What can be wrong with a claim that is presented, in the order in which it is looked at.
const HOLDING: &[&str] = &[
    "task_not_found",
    "epoch_mismatch",
    "already_terminal",
    "claim_conflict",
    "not_holder",
    "lease_expired",
];

impl Endpoint for Renew {
    type Input = RenewInput;
    type Answer = Leased;
    const FACTS: Facts = Facts::post(
        "/v1/tasks/{taskId}/renew",
        "renewTask",
        "Prolong the lease of a claim; it never gets shorter",
    )
    .codes(HOLDING);

    fn answer(
        input: RenewInput,
        request: &mut RequestContext<'_>,
    ) -> std::result::Result<Reply, Problem> {
        let fence = fence((input.task_id, input.epoch), input.agent_id, input.force);
        let renew = fence.renew(input.ttl_ms.unwrap_or(TTL_MS));
        request.exchange(request.team()?, renew, renewed)
    }
}

/// `POST /v1/tasks/{taskId}/complete`.
pub struct Complete;

/// Which claim comes to its end.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct CompleteInput {
    /// The task
    task_id: String,
    /// The number of the claim
    epoch: u64,
    /// Who presents it; if given it must be the one who holds it
    agent_id: Option<String>,
    /// Whether it may be somebody else's; recorded. The epoch must be right all the same
    #[serde(default)]
    force: bool,
    /// What the completion brought
    result: Option<String>,
}

impl Endpoint for Complete {
    type Input = CompleteInput;
    type Answer = OneTask;
    const FACTS: Facts = Facts::post(
        "/v1/tasks/{taskId}/complete",
        "completeTask",
        "Complete a claimed task, which frees those that waited for it",
    )
    .codes(HOLDING);

    fn answer(
        input: CompleteInput,
        request: &mut RequestContext<'_>,
    ) -> std::result::Result<Reply, Problem> {
        let fence = fence((input.task_id, input.epoch), input.agent_id, input.force);
        request.exchange(request.team()?, fence.complete(input.result), finished)
    }
}

/// `POST /v1/tasks/{taskId}/fail`.
pub struct Fail;

/// Which claim is given up.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct FailInput {
    /// The task
    task_id: String,
    /// The number of the claim
    epoch: u64,
    /// Who presents it; if given it must be the one who holds it
    agent_id: Option<String>,
    /// Whether it may be somebody else's; recorded. The epoch must be right all the same
    #[serde(default)]
    force: bool,
    /// Why it failed
    error: Option<String>,
}

impl Endpoint for Fail {
    type Input = FailInput;
    type Answer = OneTask;
    const FACTS: Facts =
        Facts::post("/v1/tasks/{taskId}/fail", "failTask", "Fail a claimed task").codes(HOLDING);

    fn answer(
        input: FailInput,
        request: &mut RequestContext<'_>,
    ) -> std::result::Result<Reply, Problem> {
        let fence = fence((input.task_id, input.epoch), input.agent_id, input.force);
        request.exchange(request.team()?, fence.fail(input.error), finished)
    }
}

fn fence((task_id, epoch): (String, u64), agent: Option<String>, force: bool) -> Fence {
    Fence {
        task_id,
        epoch,
        agent,
        force,
    }
}

fn task(live: &Live, id: &str, now: Timestamp) -> Result<Task> {
    match live.task(id)? {
        Some(task) => {
            let failed = blocking::failed_dependencies(live, &task)?;
            Ok(Task::of(task, failed, now))
        }
        None => Err(holding::not_found(id).into()),
    }
}

fn leased(live: &Live, answer: &ClaimAnswer, now: Timestamp) -> Result<Exchange> {
    holding(live, &answer.task.id, &answer.overlaps, now)
}

fn renewed(live: &Live, answer: &RenewAnswer, now: Timestamp) -> Result<Exchange> {
    holding(live, &answer.task.id, &[], now)
}

fn holding(live: &Live, id: &str, overlaps: &[Overlap], now: Timestamp) -> Result<Exchange> {
    let task = task(live, id, now)?;
    let leased = Leased {
        task_id: task.id.clone(),
        lease: task.lease.clone(),
        overlaps: overlaps.iter().map(overlap).collect(),
        task,
    };
    Exchange::of(Claim::FACTS.status, &leased)
}

/// What is held twice, as this surface shows it.
fn overlap(overlap: &Overlap) -> Overlap {
    Overlap {
        leased_until: moment(&overlap.leased_until),
        ..overlap.clone()
    }
}

fn finished(live: &Live, answer: &HolderAnswer, now: Timestamp) -> Result<Exchange> {
    let task = task(live, &answer.task.id, now)?;
    Exchange::of(Complete::FACTS.status, &OneTask { task })
}
