//! `cancel-task`: a task is not to be done.

use crate::projections::task::event::TaskCanceled;
use crate::task::prelude::*;

operation! {
    /// Cancel a task
    "cancel-task": Records(TaskCancel {
        /// The task
        task_id: String,
        /// Why
        reason: Option<String>,
        /// Who cancels it; else the leader, `leader-fixed`
        worker: Option<String>,
        /// What the claim was answered with; a task that somebody works on needs it, or `epoch`, or `force`
        claim_token: Option<String>,
        /// The number of the claim, in place of its token
        epoch: Option<u64>,
        /// Whether the claim of whoever works on it may end: with its token or epoch anybody may say so, without only the
        /// leader; recorded
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        force: bool,
        /// The version that the task must have
        #[schemars(range(min = 1))]
        expected_version: Option<u64>,
    }) -> TaskAnswer as task_cancel,
    refuses = [TaskNotFound, AlreadyTerminal, ClaimConflict, NotHolder, LeaseExpired, VersionConflict]
}

claim_proof!(TaskCancel, |it| it.worker.as_deref());

impl Command for TaskCancel {
    type Decided = ();
    type Answer = TaskAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::of(Authority::HolderOrLeader(self.proof())).named(self.proof().is_named())
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<()>> {
        self.proof().check_worker()?;
        check_expected(self.expected_version)?;
        let decision = TaskDecision::load(live, &self.task_id, ctx.now)?;
        decision.decision(|decision| {
            decision.check_open()?;
            decision.check_version(self.expected_version)?;
            let forced = self.check_claim(decision)?;
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
        TaskAnswer::of(&self.task_id, after)
    }
}

impl TaskCancel {
    fn actor(&self) -> &str {
        self.worker.as_deref().unwrap_or(LEADER)
    }

    /// Whether the claim of somebody else ends with the task.
    fn check_claim(&self, decision: &TaskDecision) -> Result<bool, Refusal> {
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
        if self.force && self.actor() == LEADER {
            return Ok(true);
        }
        Err(proof.needs_claim(decision, claim, self.actor()))
    }
}
