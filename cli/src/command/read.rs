//! `read`: a page of an inbox, towards older messages.

use crate::command::prelude::*;
use teamlog_team::message::read::Read;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog read demo --agent dev --unread
  teamlog read demo --agent dev --limit 10 --json
  TEAMLOG_AGENT=dev teamlog read demo")]
pub struct Args {
    /// The team
    team: String,
    /// Whose inbox [default: who is acting]
    #[arg(long)]
    agent: Option<String>,
    /// Only messages that are not acknowledged; the first page also shows unread posts and news of the agent's tasks
    #[arg(long)]
    unread: bool,
    /// Most messages on the page; 0 is all [default: 50]
    #[arg(long, value_name = "N", value_parser = super::whole::<usize>)]
    limit: Option<usize>,
    /// Go on to older messages: the next_cursor of the page before
    #[arg(long, value_name = "MESSAGE_ID")]
    cursor: Option<String>,
    #[command(flatten)]
    at: Past,
}

reads!(Args, at, render::inbox::page, |args, context| Read {
    agent: context.agent("--agent", args.agent)?,
    unread: args.unread,
    limit: args.limit,
    cursor: args.cursor,
});
