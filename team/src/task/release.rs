//! `release-task-claim`: the holder of a claim releases the task without completing it.

use crate::task::finish::HolderAnswer;
use crate::task::prelude::*;

operation! {
    /// Give a claimed task back without completing it
    "release-task-claim": Records(TaskRelease {
        /// Id of the task
        #[arg(value_name = "TASK")]
        task_id: String,
        /// Agent that releases the task; if the call gives only the epoch, this agent must be the holder
        #[arg(long, value_name = "AGENT")]
        worker: String,
        /// Token of the claim; required unless `epoch` is given. The command line knows the live claim of its session
        #[arg(long, value_name = "TOKEN")]
        claim_token: Option<String>,
        /// Epoch of the claim, instead of its token
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<u64>)]
        epoch: Option<u64>,
        /// Act on a claim of another agent; the token or epoch must still be right. The log records the use of force
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[arg(long)]
        force: bool,
        /// Version that the task must have
        #[schemars(range(min = 1))]
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<u64>)]
        expected_version: Option<u64>,
    }) -> HolderAnswer as task_release,
    refuses = [TaskNotFound, AlreadyTerminal, ClaimConflict, NotHolder, LeaseExpired, VersionConflict]
}

claim_proof!(TaskRelease, |it| Some(&it.worker));

impl Command for TaskRelease {
    type Decided = ();
    type Answer = HolderAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Holder(self.proof())).named(self.proof().is_named())
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<()>> {
        let proof = self.proof();
        proof.check_worker()?;
        proof.check_given()?;
        check_expected(self.expected_version)?;
        let decision = TaskDecision::load(live, &self.task_id, ctx.now)?;
        decision.decision(|decision| {
            decision.check_open()?;
            decision.check_version(self.expected_version)?;
            if is_nobodys(decision) {
                // Explains an expired lease to a caller that still presents its claim.
                return match decision.check_claim(proof) {
                    Ok(ClaimCheck::GaveUp) => Ok(()),
                    Err(expired) if expired.code == Code::LeaseExpired => Err(expired.into()),
                    _ if proof.token.is_some() => Ok(()),
                    _ => Ok(decision.claim_of(proof).map(drop)?),
                };
            }
            let claim = decision.claim_of(proof)?;
            let held = proof.held(&decision.task, &claim);
            decision.act(TaskAct::Released(held), &self.worker, Some(&claim.owner));
            decision.give_back(live)
        })
    }

    fn answer(&self, (): &(), after: &After<'_>) -> Result<HolderAnswer> {
        HolderAnswer::read(&self.task_id, after)
    }
}

/// Returns true if the task is pending or blocked and has no owner.
fn is_nobodys(decision: &TaskDecision) -> bool {
    let task = &decision.task;
    matches!(task.status, Status::Pending | Status::Blocked) && task.owner.is_none()
}
