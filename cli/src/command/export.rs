//! `export`: prints every event without loss, prints an audit log, or keeps an SQLite database in step with the log.

mod sqlite;

use crate::command::prelude::*;
use crate::render::time;
use crate::stream::Streamed;
use clap::ValueEnum;
use std::ffi::OsString;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Print every event as JSON lines; `import --events` reads them\n\n\
        With --to sqlite FILE, keeps tables of events, tags, tasks, messages, claims and usage in an SQLite database instead. \
        Each transaction has the rows and the position in the log, so the next run continues where the last one ended. \
        The program teamlog-sqlite does this work; docs/export.md describes the tables and installs the program.",
    after_help = "\
Examples:
  teamlog export demo > events.jsonl
  teamlog export demo --format audit > audit.jsonl"
)]
pub struct Args {
    /// The team
    team: String,
    /// events (all of each) or audit (lines of an audit log) [default: events]
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    format: Option<Format>,
    /// Write tables into a database instead: sqlite and the file, which is created if it is missing
    #[arg(long, num_args = 2, value_names = ["FORMAT", "FILE"], conflicts_with = "format")]
    to: Option<Vec<OsString>>,
    /// With --to: continue with events as they are recorded, until SIGTERM or SIGINT
    #[arg(long, requires = "to")]
    follow: bool,
    /// With --to: remove all rows of FILE, and fill the tables from the first event on
    #[arg(long, requires = "to")]
    replace: bool,
}

/// Format of the printed events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Events,
    Audit,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        if let Some(to) = &self.to {
            return sqlite::run(context, &self, to);
        }
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
