//! `replay`: prints the events that match a filter, in their order, as a stream.

use crate::command::prelude::*;
use crate::stream::Streamed;
use crate::when::When;
use teamlog_team::log::replay::Replay;
use teamlog_team::log::tail::Tail;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog replay demo
  teamlog replay demo --task-id T-1 --reverse --limit 5
  teamlog replay demo --since 1h
  teamlog replay demo --kind message_sent --since 2026-01-01 --json")]
pub struct Args {
    /// The team
    team: String,
    #[command(flatten)]
    filter: Filter,
    /// Last seq
    #[arg(long, value_name = "SEQ", value_parser = super::whole::<u64>)]
    to_seq: Option<u64>,
    /// Latest time: 1h, 14:00, yesterday, ISO 8601
    #[arg(long, value_name = "TIME", value_parser = super::time)]
    until: Option<When>,
    /// Maximum number of events to print; 0 is all [default: 0]
    #[arg(long, value_name = "N", value_parser = super::whole::<u64>)]
    limit: Option<u64>,
    /// Newest first
    #[arg(long)]
    reverse: bool,
    /// Continue with events as they are appended, until interrupted
    #[arg(long, short, conflicts_with_all = ["to_seq", "until", "reverse"])]
    follow: bool,
}

// Filter for events, used by `replay` and `tail`. Not a doc comment, because clap would print it in the help of each command.
#[derive(Debug, clap::Args)]
pub struct Filter {
    /// First seq
    #[arg(long, value_name = "SEQ", value_parser = super::whole::<u64>)]
    from_seq: Option<u64>,
    /// Earliest time: 1h, 14:00, yesterday, ISO 8601
    #[arg(long, value_name = "TIME", value_parser = super::time)]
    since: Option<When>,
    /// Only events of this kind
    #[arg(long)]
    kind: Option<String>,
    /// Only events of this trace
    #[arg(long, value_name = "TRACE")]
    trace_id: Option<String>,
    /// Only events of this task
    #[arg(long, value_name = "TASK")]
    task_id: Option<String>,
    /// Only events that concern this agent; a message concerns its recipient
    #[arg(long)]
    agent: Option<String>,
}

impl Filter {
    pub fn replay(self, context: &Context) -> Result<Replay, CommandError> {
        Ok(Replay {
            from_seq: self.from_seq,
            since: self.since.map(|since| context.time(since)).transpose()?,
            kind: self.kind,
            actor: context.actor_flag(),
            trace_id: self.trace_id,
            task_id: self.task_id,
            agent: self.agent,
            ..Replay::default()
        })
    }
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        let replay = Replay {
            to_seq: self.to_seq,
            until: self.until.map(|until| context.time(until)).transpose()?,
            limit: self.limit,
            reverse: self.reverse,
            ..self.filter.replay(context)?
        };
        if self.follow {
            let tail = Tail {
                filter: replay,
                last: None,
            };
            return context.stream(&self.team, Streamed::Follow(tail));
        }
        context.stream(&self.team, Streamed::Replay(replay))
    }
}
