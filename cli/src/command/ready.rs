//! `ready`: what can be taken up now.

use crate::command::prelude::*;
use teamlog_team::task::ready::Ready;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog ready demo
  teamlog ready demo --agent dev --limit 5")]
pub struct Args {
    /// The team
    team: String,
    /// Only what that agent may take: what is for anybody and what is assigned to it [default: who is acting; else all]
    #[arg(long)]
    agent: Option<String>,
    /// Most tasks on the page; 0 is all [default: 50]
    #[arg(long, value_name = "N", value_parser = super::whole::<usize>)]
    limit: Option<usize>,
    /// Go on: the next_cursor of the page before
    #[arg(long, value_name = "TASK")]
    cursor: Option<String>,
    #[command(flatten)]
    at: Past,
}

reads!(Args, at, render::hand::ready, |args, context| Ready {
    agent: args.agent.or_else(|| context.actor()),
    limit: args.limit,
    cursor: args.cursor,
});
