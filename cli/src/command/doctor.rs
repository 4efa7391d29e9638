//! `doctor`: is everything as it should be, and what mends it.

use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::render::doctor;
use crate::render::progress::Progress;
use teamlog_team::doctor::{DoctorCheck, SAMPLE};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    Check(Check),
}

/// Check log, state, index, views and surroundings; each problem with the command that mends it. Changes nothing
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog doctor check demo
  teamlog doctor check demo --sample-size 0 --json

Exit codes:
  0 healthy, or worth a look   2 unhealthy")]
struct Check {
    /// The team
    team: String,
    /// Events, and messages, to look up one by one; 0 is all
    #[arg(long, value_name = "N", default_value_t = SAMPLE, value_parser = super::whole::<u64>)]
    sample_size: u64,
}

impl Args {
    /// Runs it.
    pub fn run(self, context: &mut Context) -> Outcome {
        match self.action {
            Action::Check(check) => check.run(context),
        }
    }
}

impl Check {
    fn run(self, context: &mut Context) -> Outcome {
        let root = context.root(&self.team)?;
        let mut progress = Progress::on_stderr("checking");
        let answer = root.doctor_check(
            DoctorCheck {
                team: self.team,
                sample_size: self.sample_size,
                program: context.program(),
            },
            &mut |done, all| progress.show(done, all),
        );
        progress.clear();
        let answer = answer?;
        context.answer(&answer, doctor::checked)?;
        // No maintenance: a check leaves everything as it found it.
        context.out.flush()?;
        match answer.exit_code {
            0 => Ok(Exit::Done),
            _ => Ok(Exit::UNHEALTHY),
        }
    }
}
