//! `tasks`: the tasks of a team.

use crate::command::Past;
use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::render::task;
use teamlog_team::task::list::Tasks;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog tasks demo
  teamlog tasks demo --owner dev --status assigned
  teamlog tasks demo --limit 20 --cursor T-1 --json
  teamlog tasks demo --at 3                                 as they were then")]
pub struct Args {
    /// The team
    team: String,
    /// Only tasks of that status
    #[arg(long)]
    status: Option<String>,
    /// Only tasks of that owner
    #[arg(long, value_name = "AGENT")]
    owner: Option<String>,
    /// Most tasks on the page; 0 is all [default: 50]
    #[arg(long, value_name = "N", value_parser = super::whole::<usize>)]
    limit: Option<usize>,
    /// Go on: the next_cursor of the page before
    #[arg(long, value_name = "TASK")]
    cursor: Option<String>,
    #[command(flatten)]
    at: Past,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        let mut team = context.team_at(&self.team, self.at.into())?;
        let unknown = match &self.owner {
            Some(owner) => team.unknown_warning(owner)?,
            None => None,
        };
        if let Some(unknown) = unknown {
            context.note(&unknown);
        }
        let answer = team.tasks(Tasks {
            status: self.status,
            owner: self.owner,
            limit: self.limit,
            cursor: self.cursor,
        })?;
        context.answer(&answer, task::page)?;
        context.done(team, Exit::Done)
    }
}
