//! `reopen-task`: makes a failed task pending again.

use crate::task::prelude::*;

operation! {
    /// Make a failed task pending again
    "reopen-task": Records(TaskReopen {
        /// Id of the failed task
        #[arg(value_name = "TASK")]
        task_id: String,
        /// Agent that reopens the task
        #[arg(long, value_name = "AGENT")]
        worker: Option<String>,
        /// Version that the task must have
        #[schemars(range(min = 1))]
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<u64>)]
        expected_version: Option<u64>,
    }) -> TaskAnswer as task_reopen,
    refuses = [TaskNotFound, InvalidTransition, VersionConflict, WorkerNotFound]
}

impl Command for TaskReopen {
    type Decided = ();
    type Answer = TaskAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone).members_only()
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<()>> {
        names::check_known_given([("worker", &self.worker)])?;
        check_expected(self.expected_version)?;
        let decision = TaskDecision::load(live, &self.task_id, ctx.now)?;
        decision.decision(|decision| {
            if decision.task.status != Status::Failed {
                let (id, status) = (&decision.task.task_id, decision.task.status.name());
                let message = format!("task {id} is {status}: only a failed task can be reopened");
                return Err(decision.refusal(Code::InvalidTransition, message).into());
            }
            decision.check_version(self.expected_version)?;
            let actor = self.worker.as_deref().unwrap_or(DEFAULT_ACTOR);
            let owner = decision.task.owner.clone();
            decision.act(TaskAct::Reopened, actor, owner.as_deref());
            decision.give_back(live)
        })
    }

    fn answer(&self, (): &(), after: &After<'_>) -> Result<TaskAnswer> {
        TaskAnswer::read(&self.task_id, after)
    }
}
