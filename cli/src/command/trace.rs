//! `trace`: prints the events of one trace, or lists the traces.

use crate::command::prelude::*;
use crate::render::{teams, timeline};
use clap::ValueEnum;
use teamlog_team::log::traces::Traces;
use teamlog_team::story::chrome::Chrome;
use teamlog_team::story::otlp::Otlp;
use teamlog_team::story::trace::{Trace, TraceAnswer};

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Show a trace as a timeline, from the log itself\n\nThe timeline is indented by cause, and shows offsets, gaps, and the durations of tasks and messages. Events without effect are marked. Other formats feed trace viewers and \
        collectors.\n\nWithout --trace-id, the traces of the newest 10,000 events are listed, newest first: title, number of events, duration and actors. A trace is running if a task is in progress and its last event is at most a day old; it is open if a task is unfinished otherwise."
)]
#[command(after_help = "\
Examples:
  teamlog trace demo
  teamlog trace demo --trace-id tr-1
  teamlog trace demo --trace-id tr-1 --limit 10 --json
  teamlog trace demo --trace-id tr-1 --format chrome > trace.json")]
pub struct Args {
    /// The team
    team: String,
    /// Id of the trace [default: list the traces]
    #[arg(long, value_name = "TRACE")]
    trace_id: Option<String>,
    /// Largest number of events, counted from the newest; 0 means all [default: all]. Without --trace-id, the largest number of
    /// traces, at most 200 [default: 20]
    #[arg(long, value_name = "N", value_parser = super::whole::<usize>)]
    limit: Option<usize>,
    /// `next_cursor` of the previous page
    #[arg(long, value_name = "EVENT_ID", requires = "trace_id")]
    cursor: Option<String>,
    /// Output format: text; json, same as --json; chrome, for a browser's trace viewer; otlp-json, for a collector
    /// [default: text]
    #[arg(
        long,
        value_name = "FORMAT",
        hide_possible_values = true,
        requires = "trace_id"
    )]
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
        let Some(trace_id) = self.trace_id else {
            let input = Traces { limit: self.limit };
            return context.show_at(&self.team, self.at, input, teams::traces);
        };
        let input = Trace {
            trace_id,
            limit: self.limit,
            cursor: self.cursor,
        };
        let answer: TraceAnswer = context.read_at(&self.team, self.at, input)?;
        if answer.count == 0 && answer.next_cursor.is_none() {
            context.note(&format!("no event matches --trace-id {}", answer.trace_id));
        }
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
