//! `teams`: the teams of the data root.

use super::all_teams::{AllAnswer, Which};
use crate::command::prelude::*;
use crate::hint::Cause;
use crate::render::teams;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "List the teams of the data root\n\nThe list says for each team if it is open, how many events its log holds, and what the last event was. If a team cannot be opened, the others are listed and the exit code is 1.",
    after_help = "\
Examples:
  teamlog teams
  teamlog teams --json"
)]
pub struct Args {}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        let all = AllAnswer::collect(context, Which::All, |context, team| {
            Ok(context.root(team)?.team(team)?.listed()?)
        })?;
        let empty = all.teams.is_empty() && all.failed.is_empty();
        let create = context.hint(&Cause::NoTeamYet).filter(|_| empty);
        context.end(all.exit(Exit::Refused, true), &all, |all, view| {
            if empty {
                let create = create.iter().map(|create| format!("; {create}"));
                return vec![format!(
                    "there is no team yet{}",
                    create.collect::<String>()
                )];
            }
            let failed = all.failed.iter();
            let failed: Vec<_> = failed.map(|one| (&*one.team, &*one.message)).collect();
            teams::list(&all.teams, &failed, view)
        })
    }
}
