//! Who presents a claim on a task: what every command of a holder says of itself.

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

/// What a command says of its caller that has a [`Claimant`].
macro_rules! of_claimant {
    () => {
        fn admits(&self, live: &Live, actor: Option<&str>, _: Timestamp) -> Result<()> {
            self.claimant().admits(live, actor)
        }

        fn names_actor(&self) -> bool {
            self.claimant().is_named()
        }
    };
}
pub(crate) use of_claimant;

impl<'a> Claimant<'a> {
    /// Whether those who are known to be behind the command may present the claim.
    pub fn admits(self, live: &Live, actor: Option<&str>) -> Result<()> {
        let presenters = [("worker", self.worker), ("actor", actor)];
        self.hold.admits(live, self.task_id, presenters)
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
