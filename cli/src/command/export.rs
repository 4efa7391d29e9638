//! `export`: prints every event without loss, or prints an audit log.

use crate::command::prelude::*;
use crate::render::time;
use crate::stream::Streamed;
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

/// Format of the printed events.
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
        let left_out = match self.format {
            Some(Format::Audit) => None,
            _ => left_out(context, &self.team)?,
        };
        let outcome = context.stream(&self.team, wanted)?;
        if let Some(left_out) = left_out {
            context.note(&left_out);
        }
        Ok(outcome)
    }
}

/// Returns a note that the export has no artifact files, if the team has artifacts.
fn left_out(context: &mut Context, team: &str) -> Result<Option<String>, CommandError> {
    let count = context.artifact_count(team)?;
    let files = time::plural(count as u64, "artifact");
    Ok((count > 0).then(|| {
        format!("an export holds events only: the files of {files} stay in the team's directory; teamlog backup keeps them too")
    }))
}
