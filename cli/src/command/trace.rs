//! `trace`: the events of one story.

use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::render::timeline;
use teamlog_team::command::trace::Trace;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog trace demo --trace-id tr-1
  teamlog trace demo --trace-id tr-1 --limit 10 --json")]
pub struct Args {
    /// The team
    team: String,
    /// The story
    #[arg(long, value_name = "TRACE")]
    trace_id: String,
    /// Most events on the page, the newest ones; 0 is all [default: 0]
    #[arg(long, value_name = "N", value_parser = super::whole::<usize>)]
    limit: Option<usize>,
    /// Go on to older events: the next_cursor of the page before
    #[arg(long, value_name = "EVENT_ID")]
    cursor: Option<String>,
}

impl Args {
    /// Runs it.
    pub fn run(self, context: &mut Context) -> Outcome {
        let mut team = context.team(&self.team)?;
        let answer = team.trace(Trace {
            trace_id: self.trace_id,
            limit: self.limit,
            cursor: self.cursor,
        })?;
        context.answer(&answer, timeline::story)?;
        context.done(team, Exit::Done)
    }
}
