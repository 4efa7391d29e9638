//! `tick`: records due retries, dead letters and expired leases.
//!
//! The command has its own arguments, because `--all` replaces the team.

use super::all_teams::{AllAnswer, Which};
use crate::call::Call;
use crate::command::prelude::*;
use crate::render::delivery;
use teamlog_team::lifecycle::tick::Tick;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog tick demo
  teamlog tick --all
  teamlog tick demo --json")]
pub struct Args {
    /// The team
    #[arg(required_unless_present = "all")]
    team: Option<String>,
    /// Every open team of the data root; a failure in one team does not stop the others (exit code 1)
    #[arg(long, alias = "all-teams", conflicts_with = "team")]
    all: bool,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        context.records(Repeat::Same);
        let Some(team) = self.team else {
            let all = AllAnswer::collect(context, Which::Open, |context, team| {
                context.execute(&Call::operation(), team, Tick {})
            })?;
            let exit = all.exit(Exit::Refused, true);
            return context.end(exit, &all, |all, view| all.shown(view, delivery::ticked));
        };
        let answer = context.execute(&Call::operation(), &team, Tick {})?;
        context.end(Exit::Done, &answer, delivery::ticked)
    }
}
