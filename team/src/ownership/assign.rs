//! `assign-task`: assigns a task to an agent. The leader can take a task from its holder, and other
//! agents with force.

use crate::doubts::TaskDoubts;
use crate::ownership::takeover::{self, Overridden, Presented};
use crate::projections::task::event::TaskAssigned;
use crate::task::create::check_owner;
use crate::task::prelude::*;

operation! {
    /// Say which agent is to take a task
    "assign-task": Records(TaskAssignment {
        /// Id of the task
        #[arg(value_name = "TASK")]
        task_id: String,
        /// Agent that is to take the task; if absent, any agent may take it
        #[arg(value_name = "AGENT")]
        owner: Option<String>,
        /// Agent that assigns the task
        #[arg(long, value_name = "AGENT")]
        worker: Option<String>,
        /// Epoch of the claim, if another session of the agent made it
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<u64>)]
        epoch: Option<u64>,
        /// Take the task from the agent that holds it; the log records the use of force, and the holder gets a message
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[arg(long)]
        force: bool,
        /// Version that the task must have
        #[schemars(range(min = 1))]
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<u64>)]
        expected_version: Option<u64>,
    }) -> AssignmentAnswer as task_assignment,
    refuses = [
        TaskNotFound,
        WorkerNotFound,
        AlreadyTerminal,
        ClaimConflict,
        InvalidTransition,
        NotHolder,
        VersionConflict,
    ]
}

/// The answer `{task, taken_from?}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AssignmentAnswer {
    /// The task
    pub task: TaskRecord,
    /// The agent from which the task was taken; a message told this agent about it
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_from: Option<String>,
    /// True if the task was for this agent already, so that nothing was recorded
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unchanged: bool,
    /// Doubts about the names that the command gave the task
    #[serde(flatten)]
    pub doubts: TaskDoubts,
}

/// Effect of an assignment.
#[derive(Debug, Default)]
pub(crate) struct Assigned {
    /// Holder from which the task was taken.
    taken_from: Option<String>,
    /// True if nothing was recorded.
    unchanged: bool,
}

impl Command for TaskAssignment {
    type Decided = Assigned;
    type Answer = AssignmentAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::of_named(self.worker.as_deref()))
            .members_only()
            .named(self.worker.is_some())
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<Self::Decided>> {
        check_expected(self.expected_version)?;
        names::check_known_given([("worker", &self.worker)])?;
        check_owner(live, self.owner.as_deref())?;
        takeover::check_member(live, self.worker.as_deref())?;
        let decision = TaskDecision::load(live, &self.task_id, ctx.now)?;
        decision.decision(|decision| {
            decision.check_open()?;
            decision.check_version(self.expected_version)?;
            let named = self.worker.as_deref();
            let is_holders = decision
                .task
                .claim()
                .is_some_and(|claim| self.owner.as_ref() == Some(&claim.owner));
            if is_holders {
                let id = &self.task_id;
                let owner = self.owner.as_deref().unwrap_or_default();
                let message = format!("task {id} is already claimed by {owner}");
                return Err(decision.refusal(Code::InvalidTransition, message).into());
            }
            let overridden = self.overridden(ctx, live, decision)?;
            if overridden.is_none() && self.changes_nothing(&decision.task) {
                return Ok(Assigned {
                    unchanged: true,
                    ..Assigned::default()
                });
            }
            let cause = self.assign(live, decision, overridden.as_ref())?;
            let Some(Overridden { holder, .. }) = overridden else {
                return Ok(Assigned::default());
            };
            let from = takeover::sender(ctx, named);
            if from != holder {
                let id = &self.task_id;
                let to = self
                    .owner
                    .as_ref()
                    .map(|to| format!(" and gave it to {to}"));
                let to = to.unwrap_or_default();
                let body = format!("{from} took task {id} from you{to}: your claim has ended");
                takeover::tell(live, ctx, decision, (from, &holder, cause), &body)?;
            }
            Ok(Assigned {
                taken_from: Some(holder),
                ..Assigned::default()
            })
        })
    }

    fn answer(&self, assigned: &Assigned, after: &After<'_>) -> Result<AssignmentAnswer> {
        Ok(AssignmentAnswer {
            task: record(after.live, &self.task_id, after.ctx.now)?,
            taken_from: assigned.taken_from.clone(),
            unchanged: assigned.unchanged,
            doubts: TaskDoubts::find(after.live, &[], self.owner.as_deref())?,
        })
    }
}

impl TaskAssignment {
    /// Returns true if an earlier assignment had the same effect, so that a second one would only repeat the news for the owner.
    fn changes_nothing(&self, task: &Task) -> bool {
        let is_open = matches!(task.status, Status::Pending | Status::Blocked);
        let by = self.worker.as_deref();
        let by_same = by.is_none() || by == task.assigned_by.as_deref();
        task.claim_governed && is_open && by_same && task.owner == self.owner
    }

    /// Returns the holder from which the task is taken. The holder itself may hand over its task.
    fn overridden(
        &self,
        ctx: &Ctx,
        live: &Live,
        decision: &TaskDecision,
    ) -> Result<Option<Overridden>> {
        let presented = Presented {
            worker: self.worker.as_deref(),
            epoch: self.epoch,
            force: self.force,
        };
        let other = presented.check(ctx, live, decision)?;
        let own = decision.task.claim().map(|claim| Overridden {
            holder: claim.owner.clone(),
            forced: false,
        });
        Ok(other.or(own))
    }

    /// Appends the assignment. Afterwards the task is pending, or blocked if the task waits for
    /// other tasks. Returns the event's index.
    fn assign(
        &self,
        live: &Live,
        decision: &mut TaskDecision,
        overridden: Option<&Overridden>,
    ) -> Result<usize> {
        let epoch = decision.task.governed.epoch;
        let assigned = TaskAct::Assigned(TaskAssigned {
            owner: self.owner.clone(),
            taken_from: overridden.map(|one| ClaimRef {
                worker: one.holder.clone(),
                epoch,
                forced: one.forced,
            }),
            epoch: overridden.map(|_| live.next_epoch(epoch)).transpose()?,
        });
        let actor = self.worker.as_deref().unwrap_or(DEFAULT_ACTOR);
        let at = decision.act(assigned, actor, self.owner.as_deref());
        decision.task.owner.clone_from(&self.owner);
        if decision.task.status != Status::Blocked {
            decision.task.status = Status::Pending;
            let TaskDecision { task, events } = decision;
            holding::block(live, task, DEFAULT_ACTOR, events)?;
        }
        Ok(at)
    }
}
