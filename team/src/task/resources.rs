//! `set-task-resources`: sets the paths that the next holder of a task may write.

use crate::projections::task::event::Resources;
use crate::resource;
use crate::task::prelude::*;

operation! {
    /// Set the paths that a task's holder may write, while no agent works on the task
    "set-task-resources": Records(SetTaskResources {
        /// Id of the task
        #[arg(value_name = "TASK")]
        task_id: String,
        /// Paths that the task's holder may write, relative to the repository, each with everything below it; unchanged if absent
        #[arg(long = "resource", value_name = "PATH")]
        resources: Option<Vec<String>>,
        /// True if other tasks may hold the same paths at the same time; unchanged if absent
        #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
        shared: Option<bool>,
        /// Version that the task must have
        #[schemars(range(min = 1))]
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<u64>)]
        expected_version: Option<u64>,
    }) -> TaskAnswer as set_task_resources,
    refuses = [TaskNotFound, ClaimConflict, VersionConflict, WorkerNotFound]
}

impl Command for SetTaskResources {
    type Decided = ();
    type Answer = TaskAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone).members_only()
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<()>> {
        check_expected(self.expected_version)?;
        let resources = self.resources.as_deref();
        let resources = resources.map(resource::declared).transpose()?;
        if resources.is_none() && self.shared.is_none() {
            return Err(nothing_to_set().into());
        }
        let decision = TaskDecision::load(live, &self.task_id, ctx.now)?;
        decision.decision(|decision| {
            decision.check_version(self.expected_version)?;
            Ok(declare(decision, resources, self.shared)?)
        })
    }

    fn answer(&self, (): &(), after: &After<'_>) -> Result<TaskAnswer> {
        TaskAnswer::read(&self.task_id, after)
    }
}

/// Records the paths of the task if the paths change and no agent works on the task.
fn declare(
    decision: &mut TaskDecision,
    resources: Option<Vec<String>>,
    shared: Option<bool>,
) -> Result<(), Refusal> {
    if let Some(claim) = decision.task.claim() {
        let message = format!(
            "resources of task {} cannot change while {} works on it, until {}",
            decision.task.task_id, claim.owner, claim.leased_until
        );
        let refusal = decision.refusal(Code::ClaimConflict, message);
        return Err(refusal.field("resources"));
    }
    let governed = &decision.task.governed;
    let declared = Resources {
        resources: resources.unwrap_or_else(|| governed.resources.clone()),
        shared: shared.or(governed.shared),
    };
    if (&declared.resources, declared.shared) != (&governed.resources, governed.shared) {
        let owner = decision.task.owner.clone();
        let declared = TaskAct::ResourcesDeclared(declared);
        decision.act(declared, DEFAULT_ACTOR, owner.as_deref());
    }
    Ok(())
}

fn nothing_to_set() -> Refusal {
    let message = "resources or shared is required; set-task-resources needs one of them";
    Refusal::new(Code::InvalidInput, message).field("resources")
}
