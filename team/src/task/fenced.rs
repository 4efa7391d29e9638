//! What a holder does to its task where the epoch of its claim fences, and it also says who it is.
//!
//! The checks have one order, so that each caller learns what is wrong with *its* view of the task: the task, the epoch,
//! the state, the holder, the lease.

use crate::task::finish::TaskFinish;
use crate::task::prelude::*;
use crate::task::renew::TaskRenew;

/// A claim as its holder presents it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fence {
    /// The task.
    pub task_id: String,
    /// The number of the claim.
    pub epoch: u64,
    /// Who holds it, if the caller says.
    pub agent: Option<String>,
    /// Whether it may be somebody else's claim; recorded. The epoch must be right all the same.
    pub force: bool,
}

/// A command on a task behind a fence.
#[derive(Debug, Clone)]
pub struct Fenced<C> {
    fence: Fence,
    command: C,
}

impl Fence {
    /// More time for the claim.
    pub fn renew(self, lease_ms: u64) -> Fenced<TaskRenew> {
        let command = TaskRenew {
            task_id: self.task_id.clone(),
            epoch: Some(self.epoch),
            worker: self.agent.clone(),
            force: self.force,
            lease_ms: Some(lease_ms),
            ..TaskRenew::default()
        };
        self.before(command)
    }

    /// The task is done.
    pub fn complete(self, result: Option<String>) -> Fenced<TaskFinish> {
        let command = self.finish(Status::Completed);
        self.before(TaskFinish { result, ..command })
    }

    /// The task is given up.
    pub fn fail(self, error: Option<String>) -> Fenced<TaskFinish> {
        let command = self.finish(Status::Failed);
        self.before(TaskFinish { error, ..command })
    }

    fn before<C>(self, command: C) -> Fenced<C> {
        Fenced {
            fence: self,
            command,
        }
    }

    fn finish(&self, to: Status) -> TaskFinish {
        TaskFinish {
            task_id: self.task_id.clone(),
            from: Status::InProgress.name().to_owned(),
            to: to.name().to_owned(),
            epoch: Some(self.epoch),
            worker: self.agent.clone(),
            force: self.force,
            ..TaskFinish::default()
        }
    }

    fn check(&self, draft: &Draft) -> Result<(), Refusal> {
        self.check_epoch(draft)?;
        draft.check_open()?;
        let hold = Hold {
            token: None,
            epoch: Some(self.epoch),
            force: self.force,
        };
        // Whose lease ran out is told so, whoever records that; the task itself is as good as free.
        if let Ok(Standing::GaveUp | Standing::Unclaimed) = draft.standing(hold) {
            return draft.held(hold).map(drop);
        }
        self.check_holder(draft)?;
        draft.held(hold).map(drop)
    }

    fn check_epoch(&self, draft: &Draft) -> Result<(), Refusal> {
        let (task, epoch) = (&draft.task, self.epoch);
        let last = task.governed.epoch;
        if epoch == last {
            return Ok(());
        }
        let message = format!(
            "epoch must be that of the last claim on task {}, {last}, but is {epoch}",
            task.task_id
        );
        let refusal = draft.refusal(Code::EpochMismatch, message).field("epoch");
        Err(refusal.hint("somebody else may have claimed the task since: read it, and claim it again if it is free"))
    }

    fn check_holder(&self, draft: &Draft) -> Result<(), Refusal> {
        let claim = draft.task.governed.claim.as_ref();
        match claim.zip(self.agent.as_ref()) {
            Some((claim, agent)) if claim.owner != *agent && !self.force => {
                // An authenticated agent that may not force was refused before.
                Err(draft.not_holder(claim, "agent", agent, true))
            }
            _ => Ok(()),
        }
    }
}

impl<C: Command> Command for Fenced<C> {
    type Decided = C::Decided;
    type Answer = C::Answer;

    fn terms(&self) -> CommandTerms<'_> {
        self.command.terms()
    }

    fn is_consequence(&self, event: &NewEvent) -> bool {
        self.command.is_consequence(event)
    }

    fn decide(&self, live: &Live, now: Timestamp) -> Result<Decision<C::Decided>> {
        let draft = Draft::of(live, &self.fence.task_id, now)?;
        match draft.decision(|draft| Ok(self.fence.check(draft)?))? {
            Decision::Granted((), _) => self.command.decide(live, now),
            Decision::Denied(refusal, events) => Ok(Decision::Denied(refusal, events)),
        }
    }

    fn answer(&self, decided: &C::Decided, after: &After<'_>) -> Result<C::Answer> {
        self.command.answer(decided, after)
    }
}
