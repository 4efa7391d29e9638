//! `convert`: rewrites the log in the other format.

use crate::command::prelude::*;
use crate::render::moving;
use teamlog_team::engine::Format;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Store a team's log in the other format, in place\n\nEvery event keeps its seq, id, time and group. The \
        original stays in archive/LOG_ID/ of the team's directory, as a log of its own; remove it when you no longer need it. If the command is interrupted, either the old log or the new log is complete: repeat the command.",
    after_help = "\
Examples:
  teamlog convert demo --to binary
  teamlog convert demo --to jsonl --json"
)]
pub struct Args {
    /// The team
    team: String,
    /// The format: jsonl or binary
    #[arg(long, value_name = "FORMAT", value_parser = super::format)]
    to: Format,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        context.records(Repeat::Same);
        context.alone(&self.team, |context| {
            let mut team = context.team(&self.team)?;
            let answer = team.convert(self.to)?;
            context.answer(&answer, moving::converted)?;
            context.done(team, Exit::Done)
        })
    }
}
