//! `export`: every event, lossless.

use crate::context::Context;
use crate::exit::{CommandError, Exit, Outcome};
use std::ops::ControlFlow;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog export demo > events.jsonl")]
pub struct Args {
    /// The team
    team: String,
}

impl Args {
    /// Runs it.
    pub fn run(self, context: &mut Context) -> Outcome {
        let mut team = context.team(&self.team)?;
        let out = &mut context.out;
        let mut written: Result<(), CommandError> = Ok(());
        team.export(&mut |line| {
            written = out.json_line(line);
            match written.is_err() || out.reader_left() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        written?;
        context.done(team, Exit::Done)
    }
}
