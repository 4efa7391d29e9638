//! `who`: who does what.

use crate::command::prelude::*;
use teamlog_team::worker::who::Who;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Show who does what\n\nFor each agent: the tasks it works on, how long its leases still run, what it did \
        last, what it reported, and what its other tasks wait for.",
    after_help = "\
Examples:
  teamlog who demo
  teamlog who demo --json"
)]
pub struct Args {
    /// The team
    team: String,
    /// Most agents, 1 to 1000 [default: 1000]
    #[arg(long, value_name = "N", value_parser = super::whole::<usize>)]
    limit: Option<usize>,
    /// Go on behind this agent: the next_cursor of the page before
    #[arg(long, value_name = "AGENT")]
    cursor: Option<String>,
    #[command(flatten)]
    at: Past,
}

reads!(Args, at, render::who::who, Who(limit, cursor));
