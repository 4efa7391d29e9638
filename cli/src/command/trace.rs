//! `trace`: prints the events of one trace.

use crate::command::prelude::*;
use crate::render::timeline;
use clap::ValueEnum;
use teamlog_team::story::chrome::Chrome;
use teamlog_team::story::otlp::Otlp;
use teamlog_team::story::trace::Trace;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Show a trace as a timeline, from the log itself\n\nThe timeline is indented by cause, and shows offsets, gaps, and the durations of tasks and messages. Events without effect are marked. Other formats feed trace viewers and \
        collectors."
)]
#[command(after_help = "\
Examples:
  teamlog trace demo --trace-id tr-1
  teamlog trace demo --trace-id tr-1 --limit 10 --json
  teamlog trace demo --trace-id tr-1 --format chrome > trace.json")]
pub struct Args {
    /// The team
    team: String,
    #[command(flatten)]
    input: Trace,
    /// Output format: text; json, same as --json; chrome, for a browser's trace viewer; otlp-json, for a collector
    /// [default: text]
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    format: Option<Format>,
    #[command(flatten)]
    at: Past,
}

/// An output format of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
    Chrome,
    OtlpJson,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        let format = match (self.format, context.out.is_json()) {
            (Some(Format::Text), true) => return Err(contradiction()),
            (Some(format), _) => format,
            (None, true) => Format::Json,
            (None, false) => Format::Text,
        };
        let answer = context.read_at(&self.team, self.at, self.input)?;
        // Print line by line, because the text of a long trace can be too large for memory.
        match format {
            Format::Json if !context.out.is_json() => context.out.json(&answer)?,
            Format::Text | Format::Json => context.answer(&answer, timeline::story)?,
            Format::Chrome => context.out.json_streamed(&Chrome::from_answer(&answer))?,
            Format::OtlpJson => context.out.json_streamed(&Otlp::from_answer(&answer))?,
        }
        context.ended(Exit::Done)
    }
}

fn contradiction() -> CommandError {
    let message = "--format text and --json contradict each other";
    CommandError::usage(message)
}
