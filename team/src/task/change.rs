//! `update-task`: changes the attributes and the dependencies of a task. Other commands change its status, its claim and
//! its paths.

use crate::doubts::TaskDoubts;
use crate::projections::message::check_title;
use crate::projections::task::event::{DepsChanged, TaskUpdated};
use crate::projections::task::{Attributes, in_edit};
use crate::task::approval;
use crate::task::create::{check_cycle, dependencies};
use crate::task::prelude::*;

operation! {
    /// Change the attributes or the dependencies of a task
    "update-task": Records(TaskChange) -> TaskAnswer as task_change,
    refuses = [TaskNotFound, VersionConflict, DependencyCycle, ApprovalRequired, WorkerNotFound],
    rules = Rules {
        lifecycle: &LIFECYCLE,
        ..Rules::COMMON
    }
}

/// Fields that only other operations change.
const LIFECYCLE: [&str; 13] = [
    "status",
    "owner",
    "result",
    "error",
    "version",
    "claim",
    "claim_token",
    "lease_ms",
    "leased_until",
    "epoch",
    "created_at",
    "started_at",
    "completed_at",
];

/// Input of `update-task`. Absent fields stay unchanged.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct TaskChange {
    /// Id of the task
    #[cfg_attr(feature = "cli", arg(value_name = "TASK"))]
    pub task_id: String,
    /// Subject of the task, one line
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, alias = "title", value_name = "TEXT"))]
    pub subject: Option<String>,
    /// Description of the task
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TEXT"))]
    pub description: Option<String>,
    /// All tasks that must be completed first, separated by commas; replaces the earlier list
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(
            long = "after",
            visible_aliases = ["blocked-by", "deps"],
            value_name = "T,U",
            value_delimiter = ','
        ))]
    pub blocked_by: Option<Vec<String>>,
    /// Attributes of the task
    #[serde(flatten, serialize_with = "in_edit")]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub attributes: Attributes,
    /// Version that the task must have
    #[schemars(range(min = 1))]
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", value_parser = crate::argv::whole::<u64>))]
    pub expected_version: Option<u64>,
}

impl Command for TaskChange {
    type Decided = ();
    type Answer = TaskAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone).members_only()
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<()>> {
        check_expected(self.expected_version)?;
        check_subject(self.subject.as_deref())?;
        let wanted = self.blocked_by.as_deref().map(dependencies).transpose()?;
        let decision = TaskDecision::load(live, &self.task_id, ctx.now)?;
        decision.decision(|decision| {
            decision.check_version(self.expected_version)?;
            let gate = self.attributes.requires_approval;
            approval::check_gate(ctx, live, decision, (None, gate))?;
            let owner = decision.task.owner.clone();
            let updated = TaskAct::Updated(TaskUpdated {
                subject: self.subject.clone(),
                description: self.description.clone(),
                attributes: self.attributes.clone(),
                ..TaskUpdated::default()
            });
            let cause = decision.act(updated, DEFAULT_ACTOR, owner.as_deref());
            wanted.map_or(Ok(()), |wanted| wait_for(live, decision, wanted, cause))
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

/// Refuses a subject that is blank or not a single line of text.
pub(crate) fn check_subject(subject: Option<&str>) -> Result<(), Refusal> {
    let Some(subject) = subject else {
        return Ok(());
    };
    if subject.trim().is_empty() {
        return Err(Refusal::invalid("subject", subject, "must not be empty"));
    }
    Ok(check_title("subject", subject)?)
}

/// Sets the dependencies of a task. If the task is claim-governed and unclaimed, also blocks or
/// unblocks the task.
pub(crate) fn wait_for(
    live: &Live,
    decision: &mut TaskDecision,
    wanted: Vec<String>,
    cause: usize,
) -> Result<()> {
    check_cycle(live, &decision.task.task_id, &wanted)?;
    let owner = decision.task.owner.clone();
    if wanted != decision.task.deps || !decision.task.ignored_deps.is_empty() {
        let changed = TaskAct::DepsChanged(DepsChanged {
            depends_on: wanted.clone(),
        });
        decision.follow(changed, DEFAULT_ACTOR, owner.as_deref(), cause);
        decision.task.deps = wanted;
    }
    if !decision.task.claim_governed {
        return Ok(());
    }
    let blocked = decision.task.status == Status::Blocked;
    if blocked && live.open_deps(&decision.task.deps)?.is_empty() {
        let cause = decision.events.len() - 1;
        decision.follow(TaskAct::Unblocked, DEFAULT_ACTOR, owner.as_deref(), cause);
        return Ok(());
    }
    let TaskDecision { task, events } = decision;
    blocking::block(live, task, DEFAULT_ACTOR, events)
}
