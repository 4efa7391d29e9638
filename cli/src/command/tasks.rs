//! `tasks`: lists the tasks of a team.

use crate::command::prelude::*;
use teamlog_team::argv;
use teamlog_team::task::list::{ReadTasks, Tasks};
use teamlog_team::task::sorting::{SortOrder, TaskSort};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog tasks demo
  teamlog tasks demo --owner dev --status assigned
  teamlog tasks demo --limit 20 --cursor T-1 --json
  teamlog tasks demo --sort updated --since 3 --limit 20    what changed last
  teamlog tasks demo --at 3                                 as they were then")]
pub struct Args {
    /// The team
    team: String,
    /// Only tasks with this status
    #[arg(long, value_parser = argv::status)]
    status: Option<String>,
    /// Only tasks of this owner
    #[arg(long, value_name = "AGENT")]
    owner: Option<String>,
    /// Largest number of tasks; 0 means all [default: 50]
    #[arg(long, value_name = "N", value_parser = super::whole::<usize>)]
    limit: Option<usize>,
    /// `next_cursor` of the previous page
    #[arg(long, value_name = "TASK")]
    cursor: Option<String>,
    /// Sort key: id, updated, priority or status [default: id]
    #[arg(long, value_name = "FIELD", value_parser = sort)]
    sort: Option<TaskSort>,
    /// Sort order: asc or desc [default: desc for updated and priority, else asc]
    #[arg(long, value_name = "ORDER", value_parser = order)]
    order: Option<SortOrder>,
    /// Only tasks that an event after SEQ changed
    #[arg(long, value_name = "SEQ", value_parser = super::whole::<u64>)]
    since: Option<u64>,
    #[command(flatten)]
    at: Past,
}

reads!(Args, at, render::task::page, |args, context| ReadTasks(
    Tasks {
        status: args.status,
        owner: args.owner,
        limit: args.limit,
        cursor: args.cursor,
        sort: args.sort,
        order: args.order,
        since: args.since,
    }
));

fn sort(text: &str) -> Result<TaskSort, String> {
    TaskSort::from_name(text).ok_or_else(TaskSort::rule)
}

fn order(text: &str) -> Result<SortOrder, String> {
    SortOrder::from_name(text).ok_or_else(SortOrder::rule)
}
