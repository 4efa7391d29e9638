//! `task release`: the holder of a claim gives its task back.

use super::request::{Hold, Request, Target};
use crate::context::Context;
use crate::exit::Outcome;
use crate::render::claim;
use teamlog_team::task::release::TaskRelease;

/// Give a claimed task back, for whoever wants it; that is no completion
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog task release demo T-6 --worker dev --epoch 1")]
pub struct Release {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    hold: Hold,
    #[command(flatten)]
    request: Request,
}

impl Release {
    pub fn run(self, context: &mut Context) -> Outcome {
        let input = TaskRelease {
            task_id: self.target.task_id,
            worker: context.agent("--worker", self.hold.worker)?,
            claim_token: self.hold.claim_token,
            epoch: self.hold.epoch,
            force: self.hold.force,
            expected_version: self.request.expected_version,
        };
        self.request
            .carry_out(context, &self.target.team, input, claim::held)
    }
}
