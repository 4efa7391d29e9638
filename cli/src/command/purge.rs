//! `purge`: deletes a closed team with its log.

use crate::command::prelude::*;
use crate::hint::Cause;
use teamlog_team::lifecycle::purge::PurgeAnswer;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Delete a closed team and its log; no other command destroys events\n\n\
        A team is closed by `teamlog close`, which keeps its log.",
    after_help = "\
Examples:
  teamlog close demo --force && teamlog purge demo --yes
  teamlog close demo --force && teamlog purge demo --yes --json"
)]
pub struct Args {
    /// The team
    team: String,
    /// Confirm that all events of the team are deleted for good
    #[arg(long)]
    yes: bool,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        let root = context.root(&self.team)?;
        if !self.yes {
            let message = "purge destroys every event of the team for good, so --yes is required";
            let again = Cause::Unconfirmed(format!("purge {} --yes", quoted(&self.team)));
            return Err(CommandError::usage(message).beside(context.hint(&again)));
        }
        let answer = context.alone(&self.team, |_| Ok(root.purge(&self.team)?))?;
        context.end(Exit::Done, &answer, gone)
    }
}

fn gone(answer: &PurgeAnswer, _: &View) -> Vec<String> {
    let events = time::plural(answer.events, "event");
    vec![format!(
        "purged {}: {events} are gone",
        visible(&answer.team)
    )]
}
