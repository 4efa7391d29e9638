//! `export`: every event, lossless; or an audit log.

use crate::command::prelude::*;
use crate::question::Streamed;
use clap::ValueEnum;

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
        let wanted = match self.format {
            None | Some(Format::Events) => Streamed::Export,
            Some(Format::Audit) => Streamed::Audit,
        };
        context.stream(&self.team, wanted)
    }
}
