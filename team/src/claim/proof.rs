//! Checks of a claim that a command presents: the caller has permission to present the claim, and
//! the claim is live.

use crate::claim::holding::{self, ClaimCheck, TaskDecision};
use crate::command::authority::ClaimProof;
use crate::command::{Actor, ClaimOrder, Ctx, Decision, mismatch};
use crate::prelude::*;
use crate::projections::task::Claim;
use crate::projections::task::event::ClaimRef;

/// Implements [`ClaimProof`] for a command. The given function returns the worker of the command.
macro_rules! claim_proof {
    ($command:ty, $worker:expr) => {
        impl $command {
            fn proof(&self) -> $crate::command::authority::ClaimProof<'_> {
                let worker: fn(&$command) -> Option<&str> = $worker;
                $crate::command::authority::ClaimProof {
                    task_id: &self.task_id,
                    token: self.claim_token.as_deref(),
                    epoch: self.epoch,
                    force: self.force,
                    worker: worker(self),
                }
            }
        }
    };
}
pub(crate) use claim_proof;

impl<'a> ClaimProof<'a> {
    /// Refuses a caller that must not present the claim. There are two rules:
    ///
    /// - An authenticated agent must not name another agent as worker.
    /// - The named worker and the acting agent must be the holder, because an epoch can be guessed and a token overheard.
    ///
    /// The second rule has two exceptions. A token suffices for a caller without authentication. With `force`, a caller without
    /// authentication and the leader pass.
    pub fn authorize(self, live: &Live, by: Actor<'_>) -> Result<()> {
        if let (Some(name), Some(worker)) = (by.name.filter(|_| by.authenticated), self.worker)
            && name != worker
        {
            return Err(mismatch(name, worker).into());
        }
        let overrides = self.force && by.may_force(live, self.worker)?;
        let suffices = self.token.is_some() && !by.authenticated;
        if self.is_empty() || overrides || suffices {
            return Ok(());
        }
        let Some(task) = live.task(self.task_id)? else {
            return Ok(());
        };
        let Some(claim) = task.claim().filter(|claim| self.fits(&task, claim)) else {
            return Ok(());
        };
        for (field, who) in [("worker", self.worker), ("actor", by.name)] {
            if let Some(who) = who.filter(|who| *who != claim.owner) {
                let (task, events) = (task.clone(), Vec::new());
                let decision = TaskDecision { task, events };
                let may_force = by.may_force(live, self.worker)?;
                return Err(decision.not_holder(claim, field, who, may_force).into());
            }
        }
        Ok(())
    }

    /// Checks the caller as `authorize` does. Only the leader may end a claim by force without presenting the claim.
    pub fn authorize_with_leader(self, live: &Live, by: Actor<'_>, now: Timestamp) -> Result<()> {
        self.authorize(live, by)?;
        if !self.force || !self.is_empty() || by.leads(live, self.worker)? {
            return Ok(());
        }
        let who = by.name.or(self.worker).unwrap_or_default();
        let decision = TaskDecision::load(live, self.task_id, now)?;
        let claim = decision.task.claim();
        claim.map_or(Ok(()), |claim| {
            Err(self.needs_claim(&decision, claim, who).into())
        })
    }

    /// Decides on the task: checks the input, then applies the rules. With [`ClaimOrder::EpochFirst`] the claim is checked before
    /// the input.
    pub fn decide<I, V>(
        self,
        ctx: &Ctx,
        live: &Live,
        input: impl FnOnce() -> Result<I>,
        rules: impl FnOnce(&mut TaskDecision, I) -> Result<V>,
    ) -> Result<Decision<V>> {
        let decision = || TaskDecision::load(live, self.task_id, ctx.now);
        match ctx.control.claim_order {
            ClaimOrder::InputFirst => {
                let input = input()?;
                decision()?.decision(|decision| rules(decision, input))
            }
            ClaimOrder::EpochFirst => decision()?.decision(|decision| {
                self.check_in_order(ctx, live, decision)?;
                rules(decision, input()?)
            }),
        }
    }

    /// Checks the epoch, the status, the holder and the lease, in this order.
    fn check_in_order(self, ctx: &Ctx, live: &Live, decision: &TaskDecision) -> Result<()> {
        self.check_epoch(decision)?;
        decision.check_open()?;
        // Reports an expired lease to any caller, because any agent may now claim the task.
        if let Ok(ClaimCheck::GaveUp | ClaimCheck::Unclaimed) = decision.check_claim(self) {
            decision.claim_of(self)?;
            return Ok(());
        }
        let claim = decision.task.governed.claim.as_ref();
        if let Some((claim, agent)) = claim.zip(self.worker)
            && claim.owner != agent
            && !self.force
        {
            let may_force = ctx.control.caller().may_force(live, self.worker)?;
            return Err(decision.not_holder(claim, "agent", agent, may_force).into());
        }
        decision.claim_of(self)?;
        Ok(())
    }

    fn check_epoch(self, decision: &TaskDecision) -> Result<(), Refusal> {
        let last = decision.task.governed.epoch;
        let Some(epoch) = self.epoch.filter(|epoch| *epoch != last) else {
            return Ok(());
        };
        let message = format!(
            "wrong epoch {epoch} for task {}: its current epoch is {last}",
            self.task_id
        );
        let refusal = decision
            .refusal(Code::EpochMismatch, message)
            .field("epoch");
        Err(refusal.hint("another worker may have claimed the task meanwhile: read the task, and claim it again if nobody holds it"))
    }

    /// Refuses a command that presents neither a token nor an epoch.
    pub fn check_given(self) -> Result<(), Refusal> {
        if !self.is_empty() {
            return Ok(());
        }
        let message = match self.force {
            true => format!(
                "claim_token or epoch is required, also with force: read task {} for the epoch of its holder's claim",
                self.task_id
            ),
            false => {
                "claim_token or epoch is required: the answer to your claim has both".to_owned()
            }
        };
        Err(Refusal::new(Code::InvalidInput, message).field("claim_token"))
    }

    /// Refuses a worker with an invalid name.
    pub fn check_worker(self) -> Result<(), Refusal> {
        let worker = self.worker;
        worker.map_or(Ok(()), |worker| names::check_known("worker", worker))
    }

    /// Returns the refusal for a claimed task if the caller presents no claim.
    pub fn needs_claim(self, decision: &TaskDecision, claim: &Claim, who: &str) -> Refusal {
        let who = match self.force {
            true => format!("{who} cannot force it"),
            false => "no claim_token is given".to_owned(),
        };
        let message = format!(
            "task {} is claimed by {}: only its holder, or the leader by force, can cancel it; {who}",
            decision.task.task_id, claim.owner
        );
        decision.refusal(Code::ClaimConflict, message)
    }

    pub fn is_empty(self) -> bool {
        self.token.is_none() && self.epoch.is_none()
    }

    /// Returns true if the given token and epoch belong to the claim.
    pub fn fits(self, task: &Task, claim: &Claim) -> bool {
        self.token.is_none_or(|token| token == claim.token)
            && self.epoch.is_none_or(|epoch| epoch == task.governed.epoch)
    }

    /// Returns true if the command names the acting agent. A token is enough, because a token identifies its holder.
    pub fn is_named(self) -> bool {
        self.worker.is_some() || self.token.is_some()
    }

    /// Returns the reference to the claim for the events that end or renew the claim.
    pub fn held(self, task: &Task, claim: &Claim) -> ClaimRef {
        ClaimRef {
            forced: self.force,
            ..holding::holder(task, claim)
        }
    }

    /// Returns the actor of an event about the claim. The actor is the holder, unless the command names another agent or uses
    /// force.
    pub fn actor(self, claim: &'a Claim) -> &'a str {
        let unnamed = match self.force {
            true => DEFAULT_ACTOR,
            false => &*claim.owner,
        };
        self.worker.unwrap_or(unnamed)
    }
}
