//! `tail`: prints the newest events. With `-f`, also prints new events as they arrive.

use super::replay::Filter;
use crate::command::prelude::*;
use crate::stream::Streamed;
use teamlog_team::log::tail::{LAST, Tail};

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Print the newest events\n\nWith -f it also prints new events, of any process, until interrupted. It takes no lock and sleeps between events.",
    after_help = "\
Examples:
  teamlog tail demo
  teamlog tail demo -n 3 --json"
)]
pub struct Args {
    /// The team
    team: String,
    /// Continue with events as they are appended, until interrupted
    #[arg(long, short, conflicts_with = "at")]
    follow: bool,
    /// Number of existing events to print first [default: 10]
    #[arg(long, short = 'n', value_name = "N", value_parser = super::whole::<u64>)]
    lines: Option<u64>,
    /// Also show answers kept for retries (response_stored); --json always shows them
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    filter: Filter,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        let mut filter = self.filter.replay(context)?;
        filter.without_bookkeeping = !self.all && filter.kind.is_none() && !context.out.is_json();
        let tail = Tail {
            filter,
            last: Some(self.lines.unwrap_or(LAST)),
        };
        if self.follow {
            return context.stream(&self.team, Streamed::Follow(tail));
        }
        context.stream(&self.team, Streamed::Tail(tail))
    }
}
