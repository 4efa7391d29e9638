//! `log`: the newest events of a team, by agent, time and task.

use super::replay::Filter;
use crate::command::prelude::*;
use crate::stream::Streamed;
use teamlog_team::log::tail::Tail;

/// Default number of events if neither `-n` nor `--since` is set.
const NEWEST: u64 = 20;
/// Default number of events if `--since` is set, which means all events.
const ALL: u64 = u64::MAX;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog log --since yesterday --by dev
  teamlog log --type handoff --not actor:lead -n 5")]
pub struct Args {
    /// The team
    team: String,
    /// Only events of that actor
    #[arg(long, value_name = "AGENT")]
    by: Option<String>,
    /// Number of events [default: 20; all with --since]
    #[arg(long, short = 'n', value_name = "N", value_parser = super::whole::<u64>)]
    lines: Option<u64>,
    /// Continue with events as they are appended, until interrupted
    #[arg(long, short, conflicts_with = "at")]
    follow: bool,
    /// Also show stored answers (response_stored)
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    filter: Filter,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        let mut filter = self.filter.replay(context)?;
        let default = if filter.since.is_some() { ALL } else { NEWEST };
        filter.actor = self.by.or(filter.actor);
        filter.without_bookkeeping = !self.all && filter.kind.is_none() && !context.out.is_json();
        let tail = Tail {
            filter,
            last: Some(self.lines.unwrap_or(default)),
        };
        let streamed = match self.follow {
            true => Streamed::Follow(tail),
            false => Streamed::Tail(tail),
        };
        context.stream(&self.team, streamed)
    }
}
