//! `replay`: prints the events that match a filter, in their order, as a stream.

use crate::command::prelude::*;
use crate::stream::Streamed;
use crate::when::{PastPoint, When};
use teamlog_team::argv::message_type;
use teamlog_team::engine::Point;
use teamlog_team::log::replay::Replay;
use teamlog_team::log::tail::Tail;
use teamlog_team::log::text::Text;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog replay demo
  teamlog replay demo --task-id T-1 --reverse --limit 5
  teamlog replay demo --since 1h --not kind:task_updated
  teamlog replay demo --kind message_sent --since 2026-01-01 --json")]
pub struct Args {
    /// The team
    team: String,
    #[command(flatten)]
    filter: Filter,
    /// Last seq
    #[arg(long, value_name = "SEQ", value_parser = super::whole::<u64>, conflicts_with = "at")]
    to_seq: Option<u64>,
    /// Latest time: 1h, 14:00, yesterday, ISO 8601
    #[arg(long, value_name = "TIME", value_parser = super::time, conflicts_with = "at")]
    until: Option<When>,
    /// Maximum number of events to print; 0 is all [default: 0]
    #[arg(long, value_name = "N", value_parser = super::whole::<u64>)]
    limit: Option<u64>,
    /// Newest first
    #[arg(long)]
    reverse: bool,
    /// Continue with events as they are appended, until interrupted
    #[arg(long, short, conflicts_with_all = ["to_seq", "until", "at", "reverse"])]
    follow: bool,
}

// Filter for events, used by `replay`, `tail` and `log`. Not a doc comment, because clap would print it in the help of each command.
#[derive(Debug, clap::Args)]
pub struct Filter {
    /// First seq
    #[arg(long, value_name = "SEQ", value_parser = super::whole::<u64>)]
    from_seq: Option<u64>,
    /// Earliest time: 1h, 14:00, yesterday, ISO 8601
    #[arg(long, value_name = "TIME", value_parser = super::time)]
    pub since: Option<When>,
    /// Only events of this kind, or of several kinds separated by commas
    #[arg(long)]
    pub kind: Option<String>,
    /// Only events with this tag; may be repeated, for events with all of them
    #[arg(long = "tag", value_name = "NAME=VALUE")]
    tags: Vec<String>,
    /// Only messages of this type, or of several types separated by commas
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',', value_parser = message_type)]
    message_types: Vec<String>,
    /// Only events of this trace
    #[arg(long, value_name = "TRACE")]
    trace_id: Option<String>,
    /// Only events of this task
    #[arg(long, value_name = "TASK", visible_alias = "task")]
    task_id: Option<String>,
    /// Only events that concern this agent; a message concerns its recipient
    #[arg(long)]
    agent: Option<String>,
    /// Only events with this text in their kind, actor, refs or payload, ignoring case
    #[arg(long)]
    text: Option<String>,
    /// Leave out events with this value, as FIELD:VALUE; may be repeated. FIELD is kind, type, actor, agent, task or trace
    #[arg(long, value_name = "FIELD:VALUE")]
    not: Vec<String>,
    #[command(flatten)]
    at: Past,
}

impl Filter {
    pub fn replay(self, context: &Context) -> Result<Replay, CommandError> {
        let at: Option<PastPoint> = self.at.into();
        let (to_seq, until) = match at.map(|at| context.point(at)).transpose()? {
            None => (None, None),
            Some(Point::Seq(seq)) => (Some(seq), None),
            Some(Point::Time(time)) => (None, Some(time)),
        };
        Ok(Replay {
            to_seq,
            until,
            from_seq: self.from_seq,
            since: self.since.map(|since| context.time(since)).transpose()?,
            kind: self.kind,
            tags: self.tags,
            actor: context.actor_flag(),
            trace_id: self.trace_id,
            task_id: self.task_id,
            agent: self.agent,
            message_type: (!self.message_types.is_empty()).then(|| self.message_types.join(",")),
            not: self.not,
            text: self.text.as_deref().map(Text::new),
            ..Replay::default()
        })
    }
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        let filter = self.filter.replay(context)?;
        let until = self.until.map(|until| context.time(until)).transpose()?;
        let replay = Replay {
            to_seq: self.to_seq.or(filter.to_seq),
            until: until.or(filter.until),
            limit: self.limit,
            reverse: self.reverse,
            ..filter
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
