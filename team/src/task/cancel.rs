//! `cancel-task`: ends a task without a result.

use crate::projections::task::event::TaskCanceled;
use crate::task::prelude::*;

operation! {
    /// Cancel a task
    "cancel-task": Records(TaskCancel {
        /// Id of the task
        #[arg(value_name = "TASK")]
        task_id: String,
        /// Reason of the cancellation
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        /// Agent that cancels the task; `leader-fixed` if absent
        #[arg(long, value_name = "AGENT")]
        worker: Option<String>,
        /// Token of the claim; for a claimed task required unless `epoch` or `force` is given
        #[arg(long, value_name = "TOKEN")]
        claim_token: Option<String>,
        /// Epoch of the claim, instead of its token
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<u64>)]
        epoch: Option<u64>,
        /// End the claim of another agent, with its token or epoch, or as the leader; the log records the use of force
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[arg(long)]
        force: bool,
        /// Version that the task must have
        #[schemars(range(min = 1))]
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<u64>)]
        expected_version: Option<u64>,
    }) -> TaskAnswer as task_cancel,
    refuses = [TaskNotFound, AlreadyTerminal, ClaimConflict, NotHolder, LeaseExpired, VersionConflict, WorkerNotFound]
}

claim_proof!(TaskCancel, |it| it.worker.as_deref());

impl Command for TaskCancel {
    type Decided = ();
    type Answer = TaskAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::HolderOrLeader(self.proof()))
            .members_only()
            .named(self.proof().is_named())
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<()>> {
        self.proof().check_worker()?;
        check_expected(self.expected_version)?;
        let decision = TaskDecision::load(live, &self.task_id, ctx.now)?;
        decision.decision(|decision| {
            decision.check_open()?;
            decision.check_version(self.expected_version)?;
            let leads = ctx.control.caller().leads(live, self.worker.as_deref())?;
            let forced = self.check_claim(decision, leads)?;
            let canceled = TaskAct::Canceled(TaskCanceled {
                reason: self.reason.clone(),
                forced,
            });
            let owner = decision.task.owner.clone();
            decision.act(canceled, self.actor(), owner.as_deref());
            Ok(())
        })
    }

    fn answer(&self, (): &(), after: &After<'_>) -> Result<TaskAnswer> {
        TaskAnswer::read(&self.task_id, after)
    }
}

impl TaskCancel {
    fn actor(&self) -> &str {
        self.worker.as_deref().unwrap_or(LEADER)
    }

    /// Checks the caller's right to cancel the task. Returns true if the cancellation ends the claim of another agent.
    fn check_claim(&self, decision: &TaskDecision, leads: bool) -> Result<bool, Refusal> {
        let proof = self.proof();
        let presented = !proof.is_empty();
        if presented {
            decision.check_claim(proof)?;
        }
        let Some(claim) = decision.task.claim() else {
            return Ok(false);
        };
        if presented {
            return Ok(self.force);
        }
        if self.force && leads {
            return Ok(true);
        }
        Err(proof.needs_claim(decision, claim, self.actor()))
    }
}
