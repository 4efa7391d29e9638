//! `tick`: what is due by now is recorded.

use crate::context::{Context, Unknown};
use crate::exit::{Exit, Outcome};
use crate::render::delivery;
use teamlog_team::command::tick::Tick;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog tick demo
  teamlog tick demo --json")]
pub struct Args {
    /// The team
    team: String,
}

impl Args {
    /// Runs it.
    pub fn run(self, context: &mut Context) -> Outcome {
        context.records(Unknown::Repeat);
        let mut team = context.team(&self.team)?;
        let actor = context.actor();
        let answer = team.tick(Tick { actor })?;
        context.answer(&answer, delivery::ticked)?;
        context.done(team, Exit::Done)
    }
}
