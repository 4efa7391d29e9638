//! `task cancel`: a task is not to be done.

use super::request::{Request, Target};
use crate::context::Context;
use crate::exit::Outcome;
use crate::render::claim;
use teamlog_team::task::cancel::TaskCancel;

/// Cancel a task: it is not to be done
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Cancel a task: it is not to be done\n\nA task that somebody works on is canceled by its holder, who \
        presents the claim, or by the leader with --force.",
    after_help = "\
Examples:
  teamlog task cancel demo T-5 --reason 'no longer wanted'
  teamlog task cancel demo T-6 --epoch 1
  teamlog task cancel demo T-6 --worker leader-fixed --force"
)]
pub struct Cancel {
    #[command(flatten)]
    target: Target,
    /// Who cancels it [default: who is acting, else the leader, leader-fixed]
    #[arg(long, value_name = "AGENT")]
    worker: Option<String>,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// The token that the claim was answered with
    #[arg(long, value_name = "TOKEN")]
    claim_token: Option<String>,
    /// The claim's number among those of the task, in place of its token
    #[arg(long, value_name = "N", value_parser = super::whole::<u64>)]
    epoch: Option<u64>,
    /// Even if somebody else works on it: with --claim-token or --epoch, or as the leader; that is recorded
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    request: Request,
}

impl Cancel {
    pub fn run(self, context: &mut Context) -> Outcome {
        let input = TaskCancel {
            task_id: self.target.task_id,
            reason: self.reason,
            worker: self.worker.or_else(|| context.actor()),
            claim_token: self.claim_token,
            epoch: self.epoch,
            force: self.force,
            expected_version: self.request.expected_version,
        };
        self.request
            .carry_out(context, &self.target.team, input, claim::changed)
    }
}
