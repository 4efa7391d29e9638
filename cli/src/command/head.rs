//! `head`: a receipt for everything up to now.

use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::render::integrity;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog head demo
  teamlog head demo --json > receipt.json")]
pub struct Args {
    /// The team
    team: String,
}

impl Args {
    /// Runs it.
    pub fn run(self, context: &mut Context) -> Outcome {
        let mut team = context.team(&self.team)?;
        let answer = team.head()?;
        context.answer(&answer, integrity::receipt)?;
        context.done(team, Exit::Done)
    }
}
