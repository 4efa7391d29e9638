//! `replay`: events in order, filtered, streamed.

use crate::context::Context;
use crate::exit::{CommandError, Exit, Outcome};
use crate::render::event;
use std::ops::ControlFlow;
use teamlog_team::command::replay::Replay;
use teamlog_team::engine::Timestamp;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog replay demo
  teamlog replay demo --task-id T-1 --reverse --limit 5
  teamlog replay demo --kind message_sent --since 2026-01-01 --json")]
pub struct Args {
    /// The team
    team: String,
    /// First seq
    #[arg(long, value_name = "SEQ", value_parser = super::whole::<u64>)]
    from_seq: Option<u64>,
    /// Last seq
    #[arg(long, value_name = "SEQ", value_parser = super::whole::<u64>)]
    to_seq: Option<u64>,
    /// Earliest time, ISO 8601
    #[arg(long, value_name = "TIME", value_parser = super::time)]
    since: Option<Timestamp>,
    /// Latest time, ISO 8601
    #[arg(long, value_name = "TIME", value_parser = super::time)]
    until: Option<Timestamp>,
    /// Only events of that kind
    #[arg(long)]
    kind: Option<String>,
    /// Only events of that story
    #[arg(long, value_name = "TRACE")]
    trace_id: Option<String>,
    /// Only events of that task
    #[arg(long, value_name = "TASK")]
    task_id: Option<String>,
    /// Only events that concern that agent (of messages: their recipient)
    #[arg(long)]
    agent: Option<String>,
    /// At most so many; 0 is all [default: 0]
    #[arg(long, value_name = "N", value_parser = super::whole::<u64>)]
    limit: Option<u64>,
    /// Newest first
    #[arg(long)]
    reverse: bool,
}

impl Args {
    /// Runs it.
    pub fn run(self, context: &mut Context) -> Outcome {
        let mut team = context.team(&self.team)?;
        let replay = Replay {
            from_seq: self.from_seq,
            to_seq: self.to_seq,
            since: self.since,
            until: self.until,
            kind: self.kind,
            actor: context.actor_flag(),
            trace_id: self.trace_id,
            task_id: self.task_id,
            agent: self.agent,
            limit: self.limit,
            reverse: self.reverse,
        };
        let out = &mut context.out;
        let paint = out.paint();
        let mut written: Result<(), CommandError> = Ok(());
        team.replay(replay, &mut |event, json| {
            written = if out.is_json() {
                out.json_line(json)
            } else {
                out.line(event::line(event, paint))
            };
            match written.is_err() || out.reader_left() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        written?;
        context.done(team, Exit::Done)
    }
}
