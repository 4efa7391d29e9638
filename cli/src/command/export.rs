//! `export`: every event, lossless; or an audit log.

use crate::context::Context;
use crate::exit::{CommandError, Exit, Outcome};
use clap::ValueEnum;
use std::ops::ControlFlow;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog export demo > events.jsonl
  teamlog export demo --format audit > audit.jsonl")]
pub struct Args {
    /// The team
    team: String,
    /// events (all of each) or audit (lines of an audit log) [default: events]
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    format: Option<Format>,
}

/// How events are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Events,
    Audit,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        let mut team = context.team(&self.team)?;
        let out = &mut context.out;
        let mut written: Result<(), CommandError> = Ok(());
        let mut each = |line: &[u8]| {
            written = out.json_line(line);
            match written.is_err() || out.reader_left() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        match self.format {
            None | Some(Format::Events) => team.export(&mut each)?,
            Some(Format::Audit) => team.export_audit(&mut each)?,
        };
        written?;
        context.done(team, Exit::Done)
    }
}
