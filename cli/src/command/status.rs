//! `status`: a team at a glance.

use crate::command::prelude::*;
use teamlog_team::lifecycle::status::Status;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog status demo
  teamlog status demo --all
  teamlog status demo --stale-minutes 30 --json
  teamlog status demo --digest                              equals that of `teamlog rehydrate demo`")]
pub struct Args {
    /// The team
    team: String,
    /// Minutes without an update or an ack after which something is stale [default: 90]
    #[arg(long, value_name = "MINUTES", value_parser = super::whole::<u64>)]
    stale_minutes: Option<u64>,
    /// Also compute the digest of the live state, which equals that of `rehydrate`
    #[arg(long)]
    digest: bool,
    /// Everything, also where that is more than a screen
    #[arg(long)]
    all: bool,
    /// Most items of each list; 0 is all [default: 1000, or all with --all]
    #[arg(long, value_name = "N", value_parser = super::whole::<usize>)]
    limit: Option<usize>,
    #[command(flatten)]
    at: Past,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        context.show_whole(self.all || self.limit.is_some());
        let input = Status {
            stale_minutes: self.stale_minutes,
            digest: self.digest,
            limit: self.limit.or(self.all.then_some(0)),
        };
        context.show_at(&self.team, self.at, input, render::status::overview)
    }
}
