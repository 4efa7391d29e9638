//! `log`: the newest events of a team, by agent, time and task.

use crate::command::prelude::*;
use crate::stream::Streamed;
use crate::when::When;
use teamlog_team::log::replay::Replay;
use teamlog_team::log::tail::Tail;

/// Default number of events if neither `-n` nor `--since` is set.
const NEWEST: u64 = 20;
/// Default number of events if `--since` is set, which means all events.
const ALL: u64 = u64::MAX;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog log --since yesterday --by dev
  teamlog log --task T-1 -n 5")]
pub struct Args {
    /// The team
    team: String,
    /// Only events of that actor
    #[arg(long, value_name = "AGENT")]
    by: Option<String>,
    /// Earliest time: 1h, 14:00, yesterday, ISO 8601
    #[arg(long, value_name = "TIME", value_parser = super::time)]
    since: Option<When>,
    /// Only events of that task
    #[arg(long = "task", value_name = "TASK")]
    task_id: Option<String>,
    /// Only events of that kind
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// Number of events [default: 20; all with --since]
    #[arg(long, short = 'n', value_name = "N", value_parser = super::whole::<u64>)]
    lines: Option<u64>,
    /// Continue with events as they are appended, until interrupted
    #[arg(long, short)]
    follow: bool,
    /// Also show stored answers (response_stored)
    #[arg(long)]
    all: bool,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        let default = if self.since.is_some() { ALL } else { NEWEST };
        let since = self.since.map(|since| context.time(since)).transpose()?;
        let filter = Replay {
            since,
            actor: self.by,
            task_id: self.task_id,
            without_bookkeeping: !self.all && self.kind.is_none() && !context.out.is_json(),
            kind: self.kind,
            ..Replay::default()
        };
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
