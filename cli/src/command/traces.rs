//! `traces`: which stories there are.

use crate::command::prelude::*;
use teamlog_team::log::traces::Traces;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "List traces, that of the newest event first\n\nFor each how many events it has, how long it lasted and who \
        acted in it. Traces are looked for in the newest 10,000 events.",
    after_help = "\
Examples:
  teamlog traces demo
  teamlog traces demo --limit 5 --json"
)]
pub struct Args {
    /// The team
    team: String,
    /// Most traces, 1 to 200 [default: 20]
    #[arg(long, value_name = "N", value_parser = super::whole::<usize>)]
    limit: Option<usize>,
}

reads!(Args, render::teams::traces, Traces(limit));
