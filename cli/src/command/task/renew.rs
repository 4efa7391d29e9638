//! `task renew`: the holder of a claim gets more time.

use super::request::{Hold, Request, Target};
use crate::context::Context;
use crate::exit::Outcome;
use crate::render::claim;
use teamlog_team::task::renew::TaskRenew;

/// Prolong the lease of a claim; it is never made shorter
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog task renew demo T-6 --epoch 1
  teamlog task renew demo T-6 --epoch 1 --lease-ms 3600000")]
pub struct Renew {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    hold: Hold,
    /// How long the claim counts from now on at least [default: 900000, which is 15 minutes]
    #[arg(long, value_name = "MILLISECONDS", value_parser = super::whole::<u64>)]
    lease_ms: Option<u64>,
    #[command(flatten)]
    request: Request,
}

impl Renew {
    pub fn run(self, context: &mut Context) -> Outcome {
        let input = TaskRenew {
            task_id: self.target.task_id,
            claim_token: self.hold.claim_token,
            epoch: self.hold.epoch,
            worker: self.hold.worker,
            force: self.hold.force,
            lease_ms: self.lease_ms,
            expected_version: self.request.expected_version,
        };
        self.request
            .carry_out(context, &self.target.team, input, claim::renewed)
    }
}
