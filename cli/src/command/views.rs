//! `views`: the files that a team keeps for people and other tools.

use crate::command::printed::answer;
use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::render::View;
use teamlog_team::log::sync_views::{SyncViews, SyncViewsAnswer, SyncViewsStatus};

actions! {
    Sync = "sync", answer::<SyncViewsAnswer>;
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
        let mut team = context.team(&self.team)?;
        let answer = team.sync_views(&SyncViews {
            timeout_ms: self.timeout_ms,
        })?;
        context.answer(&answer, |answer, _: &View| vec![shown(answer)])?;
        let exit = match answer.status {
            SyncViewsStatus::Timeout => Exit::Refused,
            SyncViewsStatus::Synced | SyncViewsStatus::None => Exit::Done,
        };
        context.done(team, exit)
    }
}

fn shown(answer: &SyncViewsAnswer) -> String {
    let SyncViewsAnswer { team, status, seq } = answer;
    match status {
        SyncViewsStatus::Synced => {
            format!("view files of {team} hold everything up to event {seq}")
        }
        SyncViewsStatus::None => format!("{team} keeps no view files"),
        SyncViewsStatus::Timeout => {
            format!("view files of {team} do not hold event {seq} yet; doctor check says why")
        }
    }
}
