//! `prime`: what an agent should know when it wakes.

use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::render::hand;
use teamlog_team::command::prime::Prime;
use teamlog_team::engine::reader::Point;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Show what an agent should know when it wakes, in fewer than 2,000 tokens\n\nIts tasks, what blocks them, \
        what it can take up, its unread mail, and what to type next. Lists that do not fit say how many there are in all.",
    after_help = "\
Examples:
  teamlog prime demo --agent dev
  teamlog prime demo --agent dev --json"
)]
pub struct Args {
    /// The team
    team: String,
    /// Who wakes [default: who is acting]
    #[arg(long)]
    agent: Option<String>,
    /// As it was then: once that event was recorded, or at that time (ISO 8601)
    #[arg(long, value_name = "SEQ|TIME", value_parser = super::point)]
    at: Option<Point>,
}

impl Args {
    /// Runs it.
    pub fn run(self, context: &mut Context) -> Outcome {
        let agent = context.agent("--agent", self.agent)?;
        let mut team = context.team_at(&self.team, self.at)?;
        let mut answer = team.prime(&Prime { agent })?;
        context.own_commands(&mut answer.commands);
        context.answer(&answer, hand::primed)?;
        context.done(team, Exit::Done)
    }
}
