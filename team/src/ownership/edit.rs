//! `edit-task`: changes the texts, due time, labels, parent and dependencies of a task.

use crate::doubts::TaskDoubts;
use crate::ownership::takeover::{self, Presented};
use crate::projections::task::event::TaskUpdated;
use crate::projections::task::{Attributes, PlanChange};
use crate::task::approval;
use crate::task::change::{check_subject, wait_for};
use crate::task::create::dependencies;
use crate::task::plan::{PlanInput, check_parent};
use crate::task::prelude::*;

operation! {
    /// Change the texts, priority, labels, times, parent or dependencies of a task
    "edit-task": Records(TaskEdit) -> TaskAnswer as task_edit,
    refuses = [TaskNotFound, VersionConflict, DependencyCycle, ClaimConflict, NotHolder, WorkerNotFound, ApprovalRequired]
}

/// The input of `edit-task`; absent fields stay unchanged.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct TaskEdit {
    /// Id of the task
    #[cfg_attr(feature = "cli", arg(value_name = "TASK"))]
    pub task_id: String,
    /// Subject of the task, one line
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, alias = "title", value_name = "TEXT"))]
    pub subject: Option<String>,
    /// Description of the task
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TEXT"))]
    pub description: Option<String>,
    /// low, normal, high or critical
    #[schemars(with = "Option<Priority>")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "PRIORITY", value_parser = crate::argv::priority))]
    pub priority: Option<String>,
    /// Labels: `+ui` adds a label, `-ui` removes it; labels without a sign replace all others
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "cli",
        arg(
            long = "label",
            value_name = "[+-]LABEL",
            value_delimiter = ',',
            allow_hyphen_values = true
        )
    )]
    pub labels: Option<Vec<String>>,
    /// Time by which the task is to be completed: a time, a date, `today`, `tomorrow`, a weekday, or a duration such as `3d`;
    /// a day means its end (UTC); `none` clears the time
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long = "due", value_name = "TIME"))]
    pub due_at: Option<String>,
    /// Time before which the task is not offered: a time, a date, `today`, `tomorrow`, a weekday, or a duration such as `3d`; a day means its beginning (UTC); `none` clears the time
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long = "defer", value_name = "TIME"))]
    pub defer_until: Option<String>,
    /// Task of which this task is a part; `none` for no parent
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TASK"))]
    pub parent: Option<String>,
    /// All tasks that must be completed first, separated by commas
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
    /// Agent that edits the task
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "AGENT"))]
    pub worker: Option<String>,
    /// Epoch of the claim, if another session of the agent made it
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", value_parser = crate::argv::whole::<u64>))]
    pub epoch: Option<u64>,
    /// Edit a task that another agent holds; the log records the use of force, and the holder gets a message
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "cli", arg(long))]
    pub force: bool,
    /// Version that the task must have
    #[schemars(range(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", value_parser = crate::argv::whole::<u64>))]
    pub expected_version: Option<u64>,
}

impl TaskEdit {
    /// Returns true if no field asks for a change.
    pub fn is_empty(&self) -> bool {
        let TaskEdit {
            task_id: _,
            subject,
            description,
            priority,
            labels,
            due_at,
            defer_until,
            parent,
            blocked_by,
            attributes,
            worker: _,
            epoch: _,
            force: _,
            expected_version: _,
        } = self;
        let texts = [subject, description, priority, due_at, defer_until, parent];
        let no_lists = labels.is_none() && blocked_by.is_none();
        no_lists && texts.iter().all(|text| text.is_none()) && *attributes == Attributes::default()
    }

    fn plan(&self) -> PlanInput<'_> {
        PlanInput {
            labels: self.labels.as_deref(),
            due_at: self.due_at.as_deref(),
            defer_until: self.defer_until.as_deref(),
            parent: self.parent.as_deref(),
        }
    }

    fn check(&self) -> Result<Option<Priority>, Refusal> {
        check_expected(self.expected_version)?;
        names::check_known_given([("worker", &self.worker)])?;
        if self.is_empty() {
            let message = "nothing to change: pass subject, priority, labels or another field";
            return Err(Refusal::new(Code::InvalidInput, message).field("task_id"));
        }
        check_subject(self.subject.as_deref())?;
        let known = |name: &str| names::word("priority", name, Priority::from_name, Priority::rule);
        self.priority.as_deref().map(known).transpose()
    }
}

impl Command for TaskEdit {
    type Decided = ();
    type Answer = TaskAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::of_named(self.worker.as_deref()))
            .members_only()
            .named(self.worker.is_some())
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<()>> {
        let priority = self.check()?;
        let wanted = self.blocked_by.as_deref().map(dependencies).transpose()?;
        takeover::check_member(live, self.worker.as_deref())?;
        let decision = TaskDecision::load(live, &self.task_id, ctx.now)?;
        decision.decision(|decision| {
            decision.check_version(self.expected_version)?;
            let named = self.worker.as_deref();
            let presented = Presented {
                worker: named,
                epoch: self.epoch,
                force: self.force,
            };
            let overridden = presented.check(ctx, live, decision)?;
            let gate = self.attributes.requires_approval;
            approval::check_gate(ctx, live, decision, (named, gate))?;
            let ends_gate = self.force && gate == Some(false);
            let plan = self.plan().change(&decision.task.governed.plan, ctx.now)?;
            self.check_parent(live, &decision.task, &plan, wanted.as_deref())?;
            let owner = decision.task.owner.clone();
            let updated = TaskAct::Updated(TaskUpdated {
                subject: self.subject.clone(),
                description: self.description.clone(),
                attributes: self.attributes.clone(),
                plan,
                priority,
                forced: ends_gate || overridden.as_ref().is_some_and(|one| one.forced),
            });
            let actor = self.worker.as_deref().unwrap_or(DEFAULT_ACTOR);
            let cause = decision.act(updated, actor, owner.as_deref());
            if let Some(wanted) = wanted {
                wait_for(live, decision, wanted, cause)?;
            }
            let Some(overridden) = overridden else {
                return Ok(());
            };
            let from = takeover::sender(ctx, self.worker.as_deref());
            let body = format!("{from} edited task {}, which you hold", self.task_id);
            let way = (from, &*overridden.holder, cause);
            takeover::tell(live, ctx, decision, way, &body)
        })
    }

    fn answer(&self, (): &(), after: &After<'_>) -> Result<TaskAnswer> {
        let deps = self.blocked_by.as_deref().unwrap_or_default();
        Ok(TaskAnswer {
            doubts: TaskDoubts::find(after.live, deps, None)?,
            ..TaskAnswer::read(&self.task_id, after)?
        })
    }
}

impl TaskEdit {
    /// Checks the parent of the task after the edit, if the edit changes the parent or the dependencies.
    fn check_parent(
        &self,
        live: &Live,
        task: &Task,
        plan: &PlanChange,
        wanted: Option<&[String]>,
    ) -> Result<()> {
        let parent = match &plan.parent {
            Some(parent) => parent.as_ref(),
            None => task
                .governed
                .plan
                .parent
                .as_ref()
                .filter(|_| wanted.is_some()),
        };
        let deps = wanted.unwrap_or(&task.deps);
        parent.map_or(Ok(()), |parent| {
            check_parent(live, &task.task_id, parent, deps)
        })
    }
}
