//! `task claim`: a worker takes a task, for a time.

use super::request::{Request, Target};
use crate::context::Context;
use crate::exit::Outcome;
use crate::render::claim;
use teamlog_team::task::claim::TaskClaim;

/// Take a task, for a time: what is answered shows later that it is yours
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog task claim demo T-5 --worker dev
  teamlog task claim demo T-5 --worker dev --lease-ms 3600000 --expected-version 1 --json")]
pub struct Claim {
    #[command(flatten)]
    target: Target,
    /// Who takes it [default: who is acting]
    #[arg(long, value_name = "AGENT")]
    worker: Option<String>,
    /// How long the claim counts unless it is renewed [default: 900000, which is 15 minutes]
    #[arg(long, value_name = "MILLISECONDS", value_parser = super::whole::<u64>)]
    lease_ms: Option<u64>,
    #[command(flatten)]
    request: Request,
}

impl Claim {
    pub fn run(self, context: &mut Context) -> Outcome {
        let input = TaskClaim {
            task_id: self.target.task_id,
            worker: context.agent("--worker", self.worker)?,
            expected_version: self.request.expected_version,
            lease_ms: self.lease_ms,
        };
        self.request
            .carry_out(context, &self.target.team, input, claim::claimed)
    }
}
