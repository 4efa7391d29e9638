//! `task reopen`: a failed task is to be done after all.

use super::request::{Request, Target};
use crate::context::Context;
use crate::exit::Outcome;
use crate::render::claim;
use teamlog_team::task::reopen::TaskReopen;

/// Make a failed task pending again, for whoever wants it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog task reopen demo T-7
  teamlog task reopen demo T-7 --worker lead --key again-7")]
pub struct Reopen {
    #[command(flatten)]
    target: Target,
    /// Who reopens it [default: who is acting]
    #[arg(long, value_name = "AGENT")]
    worker: Option<String>,
    #[command(flatten)]
    request: Request,
}

impl Reopen {
    pub fn run(self, context: &mut Context) -> Outcome {
        let input = TaskReopen {
            task_id: self.target.task_id,
            worker: self.worker.or_else(|| context.actor()),
            expected_version: self.request.expected_version,
        };
        self.request
            .carry_out(context, &self.target.team, input, claim::changed)
    }
}
