//! `transition-task-status`: the holder of a claim completes or fails the claimed task.

use crate::projections::task::event::{TaskCompleted, TaskFailed};
use crate::task::prelude::*;
use crate::task::{approval, evidence};

operation! {
    /// Complete a claimed task, or fail it
    "transition-task-status": Records(TaskFinish {
        /// Id of the task
        #[arg(value_name = "TASK")]
        task_id: String,
        /// Current status of the task; always `in_progress`
        #[schemars(with = "Status")]
        from: String,
        /// New status of the task: `completed` or `failed`
        #[schemars(with = "Status")]
        to: String,
        /// Token of the claim; required unless `epoch` is given. The command line knows the live claim of its session
        #[arg(long, value_name = "TOKEN")]
        claim_token: Option<String>,
        /// Epoch of the claim, instead of its token
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<u64>)]
        epoch: Option<u64>,
        /// Agent that presents the claim, if it is not the acting agent; if the call gives only the epoch, this agent must be the holder
        #[arg(long, value_name = "AGENT")]
        worker: Option<String>,
        /// Act on a claim of another agent; the token or epoch must still be right. The log records the use of force
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[arg(long)]
        force: bool,
        /// Result of a completed task
        result: Option<String>,
        /// Reason of a failure
        error: Option<String>,
        /// Version that the task must have
        #[schemars(range(min = 1))]
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<u64>)]
        expected_version: Option<u64>,
    }) -> HolderAnswer as task_finish,
    refuses = [
        TaskNotFound, AlreadyTerminal, ClaimConflict, NotHolder, LeaseExpired, VersionConflict, InvalidTransition,
        BlockedDependency, MissingEvidence, ApprovalRequired,
    ]
}

/// The answer `{ok, task}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HolderAnswer {
    /// Always true
    pub ok: bool,
    /// The task
    pub task: TaskRecord,
}

impl HolderAnswer {
    /// Returns the answer of a command with the task's new state.
    pub(crate) fn read(task_id: &str, after: &After<'_>) -> Result<HolderAnswer> {
        let task = record(after.live, task_id, after.ctx.now)?;
        Ok(HolderAnswer { ok: true, task })
    }
}

claim_proof!(TaskFinish, |it| it.worker.as_deref());

impl Command for TaskFinish {
    type Decided = ();
    type Answer = HolderAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Holder(self.proof())).named(self.proof().is_named())
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<()>> {
        let proof = self.proof();
        let input = || {
            let to = self.way()?;
            proof.check_given()?;
            proof.check_worker()?;
            check_expected(self.expected_version)?;
            Ok(to)
        };
        proof.decide(ctx, live, input, |decision, to| {
            decision.check_open()?;
            decision.check_version(self.expected_version)?;
            let claim = self.holder(decision)?;
            if to == Status::Completed {
                check_parts(decision)?;
                evidence::check(&decision.task, self.result.as_deref())?;
                approval::check(live, &decision.task)?;
            }
            self.finish(live, decision, &claim, to)
        })
    }

    fn answer(&self, (): &(), after: &After<'_>) -> Result<HolderAnswer> {
        HolderAnswer::read(&self.task_id, after)
    }
}

impl TaskFinish {
    /// Returns the new status of the task. Refuses an unknown transition.
    fn way(&self) -> Result<Status, Refusal> {
        let (from, to) = (status("from", &self.from)?, status("to", &self.to)?);
        match (from, to) {
            (Status::InProgress, Status::Completed | Status::Failed) => Ok(to),
            _ => Err(no_way(from, to).detail("task_id", self.task_id.clone())),
        }
    }

    fn holder(&self, decision: &TaskDecision) -> Result<Claim, Refusal> {
        if let ClaimCheck::Holds(claim) = decision.check_claim(self.proof())? {
            return Ok(claim.clone());
        }
        let (id, status) = (&decision.task.task_id, decision.task.status);
        if status == Status::InProgress {
            let message = format!("task {id} is in progress, but not claimed");
            return Err(decision.refusal(Code::ClaimConflict, message));
        }
        let message = format!("task {id} is not claimed: its status is {}", status.name());
        let refusal = decision.refusal(Code::InvalidTransition, message);
        Err(refusal.field("from").hint("claim the task first"))
    }

    fn finish(
        &self,
        live: &Live,
        decision: &mut TaskDecision,
        claim: &Claim,
        to: Status,
    ) -> Result<()> {
        let by = self.proof();
        let held = by.held(&decision.task, claim);
        let act = match to {
            Status::Completed => TaskAct::Completed(TaskCompleted {
                held,
                result: self.result.clone(),
            }),
            _ => TaskAct::Failed(TaskFailed {
                held,
                error: self.error.clone(),
            }),
        };
        let cause = decision.act(act, by.actor(claim), Some(&claim.owner));
        if to != Status::Completed {
            return Ok(());
        }
        let TaskDecision { task, events } = decision;
        blocking::unblock(live, &task.task_id, cause, DEFAULT_ACTOR, events)
    }
}

/// Refuses to complete a task with open parts.
fn check_parts(decision: &TaskDecision) -> Result<(), Refusal> {
    let parts = &decision.task.governed.plan.children;
    if parts.open == 0 {
        return Ok(());
    }
    let message = format!(
        "task {} has parts that are not completed: {} of {}",
        decision.task.task_id, parts.open, parts.total
    );
    let refusal = decision.refusal(Code::BlockedDependency, message);
    Err(refusal
        .detail("open_parts", parts.open)
        .hint("complete or cancel its parts first"))
}

fn status(field: &'static str, name: &str) -> Result<Status, Refusal> {
    Status::from_name(name).ok_or_else(|| {
        let known = Status::ALL.map(Status::name).join(", ");
        let rule = format!("must be one of the valid task statuses {known}");
        Refusal::invalid(field, name, &rule)
    })
}

fn no_way(from: Status, to: Status) -> Refusal {
    let message = format!(
        "a task can go from in_progress to completed or failed, but not from {} to {}",
        from.name(),
        to.name()
    );
    Refusal::new(Code::InvalidTransition, message)
        .details(json!({"from": from.name(), "to": to.name()}))
        .hint(
            "to give a task back, release it; to drop it, cancel it; to retry a failed task, reopen it",
        )
}
