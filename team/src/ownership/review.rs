//! `request-review`: the holder of a task asks for its review. The task then needs an approval, and earlier approvals no longer
//! count.

use crate::ownership::takeover;
use crate::projections::task::Attributes;
use crate::projections::task::event::TaskUpdated;
use crate::projections::worker::supervision::{Approval, ApprovalStatus};
use crate::task::prelude::*;

operation! {
    /// Ask for the review of a task that you hold
    "request-review": Records(ReviewRequest {
        /// Id of the task
        #[arg(value_name = "TASK")]
        task_id: String,
        /// Note to the reviewer, such as the branch with the work; on the command line, `-` reads standard input
        #[arg(value_name = "TEXT|-")]
        text: Option<String>,
        /// Reviewer; the agent that assigned the task if absent, else the leader
        #[arg(long, value_name = "AGENT")]
        to: Option<String>,
        /// Agent that holds the task
        #[arg(long, value_name = "AGENT")]
        worker: String,
        /// Epoch of the claim, if another session of the agent made it
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<u64>)]
        epoch: Option<u64>,
    }) -> ReviewAnswer as request_review,
    refuses = [TaskNotFound, WorkerNotFound, AlreadyTerminal, ClaimConflict, NotHolder, InvalidTransition]
}

/// Maximum length of the note, in bytes.
const TEXT_BYTES_MAX: usize = 64 << 10;

/// `{task, reviewer}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewAnswer {
    /// The task
    pub task: TaskRecord,
    /// The agent that got a message to decide
    pub reviewer: String,
}

impl Command for ReviewRequest {
    type Decided = String;
    type Answer = ReviewAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Agent(&self.worker))
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<String>> {
        names::check_known("worker", &self.worker)?;
        takeover::check_member(live, Some(&self.worker))?;
        let note = self.note()?;
        let decision = TaskDecision::load(live, &self.task_id, ctx.now)?;
        decision.decision(|decision| {
            decision.check_open()?;
            self.check_holder(ctx, decision)?;
            let reviewer = self.reviewer(live, &decision.task)?;
            let worker = &*self.worker;
            let updated = TaskAct::Updated(TaskUpdated {
                attributes: Attributes {
                    requires_approval: Some(true),
                    ..Attributes::default()
                },
                ..TaskUpdated::default()
            });
            let cause = decision.act(updated, worker, Some(worker));
            let asked = format!("{worker} asks for a review{note}");
            let approval = Approval {
                task_id: self.task_id.clone(),
                required: true,
                status: ApprovalStatus::Pending,
                reviewer: reviewer.clone(),
                decision_reason: asked.clone(),
            };
            let mut pending = approval.event(decision.task.trace_id.as_deref());
            worker.clone_into(&mut pending.actor);
            pending.cause = Some(Cause::Earlier(cause));
            decision.events.push(pending);
            let id = &self.task_id;
            let body = format!(
                "please review task {id}{note}\nto decide: teamlog approve {id}, or teamlog reject {id} WHY"
            );
            takeover::tell(live, ctx, decision, (worker, &reviewer, cause), &body)?;
            Ok(reviewer)
        })
    }

    fn answer(&self, reviewer: &String, after: &After<'_>) -> Result<ReviewAnswer> {
        Ok(ReviewAnswer {
            task: record(after.live, &self.task_id, after.ctx.now)?,
            reviewer: reviewer.clone(),
        })
    }
}

impl ReviewRequest {
    /// Returns the note to the reviewer, with a colon before it.
    fn note(&self) -> Result<String, Refusal> {
        let text = self.text.as_deref().unwrap_or_default().trim();
        if text.len() > TEXT_BYTES_MAX {
            let bytes = text.len();
            let message = format!("text must have at most {TEXT_BYTES_MAX} bytes, but has {bytes}");
            return Err(Refusal::new(Code::TooLarge, message).field("text"));
        }
        Ok(match text {
            "" => String::new(),
            text => format!(": {text}"),
        })
    }

    /// Refuses an agent that does not hold the task.
    fn check_holder(&self, ctx: &Ctx, decision: &TaskDecision) -> Result<(), Refusal> {
        let id = &self.task_id;
        let Some(claim) = decision.task.claim() else {
            let status = decision.task.status.name();
            let message = format!("task {id} is not claimed: its status is {status}");
            let refusal = decision.refusal(Code::InvalidTransition, message);
            return Err(refusal.hint("claim the task before you ask for its review"));
        };
        match claim.owner == self.worker {
            true => takeover::check_session(ctx, decision, claim, self.epoch),
            false => Err(decision.not_holder(claim, "worker", &self.worker, false)),
        }
    }

    /// Returns the agent that must decide. Refuses the holder of the task.
    fn reviewer(&self, live: &Live, task: &Task) -> Result<String> {
        let reviewer = match &self.to {
            Some(to) => to.clone(),
            None => membership::supervisor(live, task, &self.worker)?,
        };
        membership::check(live, "to", &reviewer)?;
        if reviewer == self.worker {
            let message = format!(
                "task {} cannot be reviewed by its holder {reviewer}",
                self.task_id
            );
            let refusal = Refusal::new(Code::InvalidInput, message).field("to");
            return Err(refusal.hint("name another agent as the reviewer").into());
        }
        Ok(reviewer)
    }
}
