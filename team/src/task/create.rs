//! `create-task`: creates a claim-governed task.

use crate::doubts::TaskDoubts;
use crate::projections::natural::NUMBER_DIGITS_MAX;
use crate::projections::task::event::{Resources, TaskCreated};
use crate::projections::task::{Attributes, Plan};
use crate::resource;
use crate::task::approval;
use crate::task::change::check_subject;
use crate::task::plan::{PlanInput, check_parent};
use crate::task::prelude::*;
use crate::task::record::RESERVED;

operation! {
    /// Make a task
    "create-task": Records(TaskCreate) -> TaskAnswer as task_create,
    refuses = [TaskExists, TaskNotFound, WorkerNotFound, DependencyCycle, BudgetExceeded],
    rules = Rules {
        lifecycle: &RESERVED,
        ..Rules::COMMON
    }
}

/// Maximum number of dependencies of a task.
pub const DEPENDENCIES_MAX: usize = 256;

/// Input of `create-task`. Unknown fields are kept with the task.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct TaskCreate {
    /// Subject of the task, one line
    #[cfg_attr(feature = "cli", arg(long, alias = "title", value_name = "TEXT"))]
    pub subject: String,
    /// Description of the task
    #[cfg_attr(
        feature = "cli",
        arg(
            long,
            value_name = "TEXT",
            default_value = "",
            hide_default_value = true,
            conflicts_with = "description_file"
        )
    )]
    pub description: String,
    /// Id of the task; if absent, the team's next number
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "ID"))]
    pub task_id: Option<String>,
    /// Agent that should take the task; if absent, any agent may take it
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "AGENT"))]
    pub owner: Option<String>,
    /// Tasks that must be completed first, separated by commas; they need not exist yet
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(
            long = "after",
            visible_aliases = ["blocked-by", "deps"],
            value_name = "T,U",
            value_delimiter = ','
        ))]
    pub blocked_by: Option<Vec<String>>,
    /// Attributes of the task
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub attributes: Attributes,
    /// low, normal, high or critical; `normal` if absent
    #[schemars(with = "Option<Priority>")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "PRIORITY", value_parser = crate::argv::priority))]
    pub priority: Option<String>,
    /// Labels of the task
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "cli",
        arg(long = "label", value_name = "LABEL", value_delimiter = ',')
    )]
    pub labels: Option<Vec<String>>,
    /// Time by which the task is to be completed: a time, a date, `today`, `tomorrow`, a weekday, or a duration such as `3d`;
    /// a day means its end (UTC)
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long = "due", value_name = "TIME"))]
    pub due_at: Option<String>,
    /// Time before which the task is not offered: a time, a date, `today`, `tomorrow`, a weekday, or a duration such as `3d`; a day means its beginning (UTC)
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long = "defer", value_name = "TIME"))]
    pub defer_until: Option<String>,
    /// Task of which this task is a part; a task is not offered while one of its parts is unfinished
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TASK"))]
    pub parent: Option<String>,
    /// Paths that the task's holder may write, relative to the repository, each with everything below it; `*`, `?` and `**`
    /// match any names, and `.` means the whole repository
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long = "resource", value_name = "PATH"))]
    pub resources: Option<Vec<String>>,
    /// True if other tasks may hold the same paths at the same time; if absent, true only for the single path `.`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(
            long,
            value_name = "true|false",
            num_args = 0..=1,
            require_equals = true,
            default_missing_value = "true"
        ))]
    pub shared: Option<bool>,
    /// More fields of the task, kept unchanged
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub extra: Map<String, Value>,
}

/// The answer `{task}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskAnswer {
    /// The task
    pub task: TaskRecord,
    /// Warnings about the names in a command about a task
    #[serde(flatten)]
    pub doubts: TaskDoubts,
}

impl TaskAnswer {
    /// Returns the answer of a command with the task's new state.
    pub(crate) fn read(task_id: &str, after: &After<'_>) -> Result<TaskAnswer> {
        let task = record(after.live, task_id, after.ctx.now)?;
        Ok(TaskAnswer::from(task))
    }
}

impl From<TaskRecord> for TaskAnswer {
    fn from(task: TaskRecord) -> TaskAnswer {
        let doubts = TaskDoubts::default();
        TaskAnswer { task, doubts }
    }
}

impl Command for TaskCreate {
    type Decided = String;
    type Answer = TaskAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::WithinBudget).members_only()
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<String>> {
        let created = self.created(live, ctx.now)?;
        let id = self.id(live)?;
        check_cycle(live, &id, &created.depends_on)?;
        if let Some(Some(parent)) = &created.plan.parent {
            check_parent(live, &id, parent, &created.depends_on)?;
        }
        let owner = created.owner.clone();
        let fact = TaskFact::new(&*id, TaskAct::Created(created));
        let event: NewEvent = fact.event(DEFAULT_ACTOR, owner.as_deref(), None);
        Ok(Decision::Granted(id, vec![event]))
    }

    fn answer(&self, id: &String, after: &After<'_>) -> Result<TaskAnswer> {
        let deps = self.blocked_by.as_deref().unwrap_or_default();
        Ok(TaskAnswer {
            doubts: TaskDoubts::find(after.live, deps, self.owner.as_deref())?,
            ..TaskAnswer::read(id, after)?
        })
    }
}

/// Largest number for the id of a new task.
const NUMBER_MAX: u64 = 10_u64.pow(NUMBER_DIGITS_MAX as u32) - 1;

impl TaskCreate {
    fn created(&self, live: &Live, now: Timestamp) -> Result<TaskCreated> {
        check_subject(Some(&self.subject))?;
        check_owner(live, self.owner.as_deref())?;
        let plan = PlanInput {
            labels: self.labels.as_deref(),
            due_at: self.due_at.as_deref(),
            defer_until: self.defer_until.as_deref(),
            parent: self.parent.as_deref(),
        };
        let depends_on = dependencies(self.blocked_by.as_deref().unwrap_or_default())?;
        let blocked = !live.open_deps(&depends_on)?.is_empty();
        let priority = self.priority.as_deref().unwrap_or("normal");
        Ok(TaskCreated {
            subject: self.subject.clone(),
            description: self.description.clone(),
            blocked,
            owner: self.owner.clone(),
            depends_on,
            attributes: self.attributes.clone(),
            plan: plan.change(&Plan::default(), now)?,
            priority: names::word("priority", priority, Priority::from_name, Priority::rule)?,
            resources: Resources {
                resources: resource::declared(self.resources.as_deref().unwrap_or_default())?,
                shared: self.shared,
            },
            extra: self.extra()?,
        })
    }

    /// Returns the unknown fields of the input in the form of an event.
    fn extra(&self) -> Result<Option<Json>, Refusal> {
        let mut names = self.extra.keys();
        if let Some(name) = names.find(|name| RESERVED.contains(&name.as_str())) {
            let hint = match name.as_str() {
                "id" => "pass the id of the new task as task_id",
                "depends_on" | "deps" => "pass the tasks that it depends on as blocked_by",
                _ => {
                    "operations such as claim-task and transition-task-status change lifecycle fields"
                }
            };
            let message = format!("{name} must not be given for a new task");
            let refusal = Refusal::new(Code::InvalidInput, message).field(name.as_str());
            return Err(refusal.hint(hint));
        }
        if self.extra.is_empty() {
            return Ok(None);
        }
        // Checks the nesting depth. In the event, the fields are nested one level deeper than in
        // the input.
        let fits = Json::from_value(&BTreeMap::from([("extra", &self.extra)]));
        let extra = fits.and_then(|_| Json::from_value(&self.extra));
        extra.map(Some).map_err(|error| {
            let message = format!("input cannot be stored: {error}");
            Refusal::new(Code::InvalidInput, message).field("input")
        })
    }

    fn id(&self, live: &Live) -> Result<String> {
        if let Some(id) = &self.task_id {
            names::check_new("task_id", id)?;
            return match live.task(id)? {
                None => Ok(id.clone()),
                Some(_) => {
                    let message = format!("task {id:?} exists already");
                    let refusal = Refusal::new(Code::TaskExists, message).field("task_id");
                    Err(refusal.detail("task_id", id.as_str()).into())
                }
            };
        }
        let number = live.next_task_number()?;
        match number > NUMBER_MAX {
            true => free_number(live),
            false => Ok(number.to_string()),
        }
    }
}

/// Returns a free number if a task has the largest possible number. The search is short, because the number of used ids is
/// at most the number of the team's tasks.
fn free_number(live: &Live) -> Result<String> {
    let mut number = live.task_counts()?.total() + 1;
    while live.task(&number.to_string())?.is_some() {
        number += 1;
    }
    Ok(number.to_string())
}

/// Refuses an owner that must not take tasks: the leader, and, in a closed team, an agent that is
/// not a member.
pub(crate) fn check_owner(live: &Live, owner: Option<&str>) -> Result<()> {
    match owner {
        None => Ok(()),
        Some(LEADER) => {
            let message = format!("owner must not be the leader, but is {LEADER:?}");
            let refusal = Refusal::new(Code::WorkerNotFound, message).field("owner");
            Err(refusal.detail("worker", LEADER).into())
        }
        Some(owner) => membership::check(live, "owner", owner),
    }
}

/// Checks the dependencies of a task and removes duplicates.
pub(crate) fn dependencies(wanted: &[String]) -> Result<Vec<String>, Refusal> {
    let mut deps: Vec<String> = Vec::new();
    for dep in wanted {
        names::check_known("blocked_by", dep)?;
        if !deps.contains(dep) {
            deps.push(dep.clone());
        }
        if deps.len() > DEPENDENCIES_MAX {
            let message = format!("blocked_by must name at most {DEPENDENCIES_MAX} tasks");
            return Err(Refusal::new(Code::TooLarge, message).field("blocked_by"));
        }
    }
    Ok(deps)
}

pub(crate) fn check_cycle(live: &Live, id: &str, deps: &[String]) -> Result<()> {
    let Some(cycle) = live.dependency_cycle(id, deps)? else {
        return Ok(());
    };
    let way = cycle.join(" -> ");
    let message = format!("blocked_by of task {id} makes a cycle: {way}");
    let refusal = Refusal::new(Code::DependencyCycle, message).field("blocked_by");
    Err(refusal.detail("cycle", cycle).into())
}

/// Returns the record of a task in the state `live`.
pub(crate) fn record(live: &Live, id: &str, now: Timestamp) -> Result<TaskRecord> {
    let task = live.task(id)?.ok_or_else(|| holding::not_found(id))?;
    let unmet = blocking::unmet_dependencies(live, &task)?;
    let approval = approval::last(live, id)?;
    let comments = live.comments(id)?;
    let record = TaskRecord::at(task, unmet, now);
    Ok(record.with_approval(approval).with_comments(comments))
}
