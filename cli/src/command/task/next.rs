//! `task next`: a worker takes the best task that there is for it.

use crate::command::stamp::Stamp;
use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::render::claim;
use teamlog_team::task::claim_next::ClaimNext;

/// Take the best task that is ready for a worker: most urgent first, then oldest
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Take the best task that is ready for a worker: most urgent first, then oldest\n\n\
        Exit code 0 with a task, 1 where nothing is ready.",
    after_help = "\
Examples:
  teamlog task next demo --worker dev
  teamlog task next demo --worker dev --lease-ms 60000 --json"
)]
pub struct Next {
    /// The team
    team: String,
    /// Who takes it [default: who is acting]
    #[arg(long, value_name = "AGENT")]
    worker: Option<String>,
    /// How long the claim counts unless it is renewed [default: 900000, which is 15 minutes]
    #[arg(long, value_name = "MILLISECONDS", value_parser = super::whole::<u64>)]
    lease_ms: Option<u64>,
    #[command(flatten)]
    stamp: Stamp,
}

impl Next {
    pub fn run(self, context: &mut Context) -> Outcome {
        let input = ClaimNext {
            worker: context.agent("--worker", self.worker)?,
            lease_ms: self.lease_ms,
        };
        let answer = self
            .stamp
            .carry_out(context, &self.team, input, claim::next)?;
        Ok(match answer.task {
            Some(_) => Exit::Done,
            None => Exit::Refused,
        })
    }
}
