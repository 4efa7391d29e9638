//! `views`: the files that a team keeps for people and other tools.

use crate::command::prelude::*;
use teamlog_team::log::sync_views::{SyncViews, SyncViewsStatus};

actions! {
    Sync = "sync", of::<SyncViews>;
}

/// Wait until the view files hold all that is recorded now
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Wait until the view files hold all that is recorded now\n\nA daemon writes them behind its answers, at most \
        250 ms later, unless the setting views.when says before_answer. Where nobody is at work on them they are brought \
        up to date. Exit code 1 where the time is up first.",
    after_help = "\
Examples:
  teamlog views sync demo
  teamlog views sync demo --timeout-ms 1000 --json"
)]
struct Sync {
    /// The team
    team: String,
    /// At most so long [default: 30000]
    #[arg(long, value_name = "MILLISECONDS", value_parser = super::whole::<u64>)]
    timeout_ms: Option<u64>,
}

impl Sync {
    fn run(self, context: &mut Context) -> Outcome {
        let timeout_ms = self.timeout_ms;
        let answer = context.read(&self.team, SyncViews { timeout_ms })?;
        let in_time = answer.status != SyncViewsStatus::Timeout;
        context.end(Exit::Refused.unless(in_time), &answer, render::hand::synced)
    }
}
