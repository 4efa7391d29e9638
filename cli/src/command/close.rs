//! `close`: closes a team. Its log stays.

use crate::call::Call;
use crate::command::prelude::*;
use teamlog_team::lifecycle::cleanup::{Cleanup, CleanupAnswer};

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Close a team, which can then only be read\n\nThe log stays, and the view files are removed. A team with \
        unfinished or failed tasks is closed only with --force. To finish a task, use `teamlog done`. To delete a closed team, use \
        `teamlog purge`.",
    after_help = "\
Examples:
  teamlog close demo --force
  teamlog close demo --force --as lead --json"
)]
pub struct Args {
    /// The team
    team: String,
    #[command(flatten)]
    input: Cleanup,
    #[command(flatten)]
    stamp: Stamp,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        let done = self
            .stamp
            .execute(context, &Call::operation(), &self.team, self.input);
        let answer = done.map_err(with_options)?;
        context.end(Exit::Done, &answer, closed)
    }
}

/// Names options in place of fields in the hint of a refusal.
fn with_options(error: CommandError) -> CommandError {
    let hint = error.hint().map(|hint| {
        hint.replace("\"force\": true", "--force")
            .replace("\"confirm_issues\": true", "--confirm-issues")
    });
    match hint {
        Some(hint) => error.hinting(hint),
        None => error,
    }
}

fn closed(answer: &CleanupAnswer, view: &View) -> Vec<String> {
    let closed = view.paint.show(Style::Good, "closed");
    let team = visible(&answer.team_name);
    vec![format!(
        "{closed} {team}: its log stays, and can only be read"
    )]
}
