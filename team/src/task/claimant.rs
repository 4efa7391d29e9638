//! Who presents a claim on a task: what every command of a holder says of itself.

use crate::handle::authority::Actor;
use crate::handle::command::mismatch;
use crate::task::prelude::*;

/// What a command presents of a claim, and who does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claimant<'a> {
    pub task_id: &'a str,
    pub hold: Hold<'a>,
    /// Who presents it, if the command says.
    pub worker: Option<&'a str>,
}

/// Makes the [`Claimant`] of a command, whose worker the function gives.
macro_rules! claimant {
    ($command:ty, $worker:expr) => {
        impl $command {
            fn claimant(&self) -> $crate::task::claimant::Claimant<'_> {
                let worker: fn(&$command) -> Option<&str> = $worker;
                $crate::task::claimant::Claimant {
                    task_id: &self.task_id,
                    hold: $crate::task::holding::Hold {
                        token: self.claim_token.as_deref(),
                        epoch: self.epoch,
                        force: self.force,
                    },
                    worker: worker(self),
                }
            }
        }
    };
}
pub(crate) use claimant;

impl<'a> Claimant<'a> {
    /// Refuses a caller that may not present the claim. A worker that the input names must be the authenticated agent. Every agent that is known to be behind the command must be the holder
    /// of the claim that it names: an epoch can be guessed, and a token can be overheard. A token alone suffices for a caller
    /// that proved nothing, and `force` skips the holder for such a caller and for the leader.
    pub fn authorize(self, live: &Live, by: Actor<'_>) -> Result<()> {
        if let (Some(name), Some(worker)) = (by.name.filter(|_| by.authenticated), self.worker)
            && name != worker
        {
            return Err(mismatch(name, worker).into());
        }
        let may_force = !by.authenticated || by.name == Some(LEADER);
        let overrides = self.hold.force && may_force;
        let suffices = self.hold.token.is_some() && !by.authenticated;
        if self.hold.is_empty() || overrides || suffices {
            return Ok(());
        }
        let Some(task) = live.task(self.task_id)? else {
            return Ok(());
        };
        let Some(claim) = task.claim().filter(|claim| self.hold.fits(&task, claim)) else {
            return Ok(());
        };
        for (field, who) in [("worker", self.worker), ("actor", by.name)] {
            if let Some(who) = who.filter(|who| *who != claim.owner) {
                let (task, events) = (task.clone(), Vec::new());
                let draft = Draft { task, events };
                return Err(draft.not_holder(claim, field, who, may_force).into());
            }
        }
        Ok(())
    }

    /// Authorizes the caller, and lets only the leader end a claim by force without presenting it.
    pub fn authorize_with_leader(self, live: &Live, by: Actor<'_>, now: Timestamp) -> Result<()> {
        self.authorize(live, by)?;
        let Some(who) = by.name.filter(|who| *who != LEADER) else {
            return Ok(());
        };
        if !self.hold.force || !self.hold.is_empty() {
            return Ok(());
        }
        let draft = Draft::of(live, self.task_id, now)?;
        let claim = draft.task.claim();
        claim.map_or(Ok(()), |claim| {
            Err(self.needs_claim(&draft, claim, who).into())
        })
    }

    /// The refusal of a caller that presents no claim on a task that is claimed.
    pub fn needs_claim(self, draft: &Draft, claim: &Claim, who: &str) -> Refusal {
        let who = match self.hold.force {
            true => format!("but {who} cannot force it"),
            false => "but no claim_token is given".to_owned(),
        };
        let message = format!(
            "task {} must be canceled by {}, who works on it, or by the leader by force, {who}",
            draft.task.task_id, claim.owner
        );
        draft.refusal(Code::ClaimConflict, message)
    }

    /// Whether it is known who acts: a token is its holder's own.
    pub fn is_named(self) -> bool {
        self.worker.is_some() || self.hold.token.is_some()
    }

    /// Refuses a worker whose name breaks the rule.
    pub fn check_worker(self) -> Result<(), Refusal> {
        let worker = self.worker;
        worker.map_or(Ok(()), |worker| names::check_known("worker", worker))
    }

    /// Who is recorded as acting on a claim: the holder, where nobody else is named and nothing is forced.
    pub fn actor(self, claim: &'a Claim) -> &'a str {
        let unnamed = match self.hold.force {
            true => DEFAULT_ACTOR,
            false => &*claim.owner,
        };
        self.worker.unwrap_or(unnamed)
    }
}
