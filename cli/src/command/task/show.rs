//! `task show`: one task in full.

use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::render::task;
use crate::when::Spot;
use teamlog_team::task::show::TaskShow;

/// Show a task, with --history also what happened to it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog task show demo T-1
  teamlog task show demo T-1 --history --json")]
pub struct Show {
    /// The team
    team: String,
    /// The task
    #[arg(value_name = "TASK")]
    task_id: String,
    /// Show the events that name the task, superseded ones marked
    #[arg(long)]
    history: bool,
    /// Most events of the history, the newest ones; 0 is all [default: 50]
    #[arg(long, value_name = "N", requires = "history", value_parser = super::whole::<usize>)]
    limit: Option<usize>,
    /// Go on to older events: the next_cursor of the page before
    #[arg(long, value_name = "EVENT_ID", requires = "history")]
    cursor: Option<String>,
    /// As it was then: once that event was recorded, or at that time: 1h, 14:00, yesterday, ISO 8601
    #[arg(long, value_name = "SEQ|TIME", value_parser = super::point)]
    at: Option<Spot>,
}

impl Show {
    pub fn run(self, context: &mut Context) -> Outcome {
        let mut team = context.team_at(&self.team, self.at)?;
        let answer = team.task_show(TaskShow {
            task_id: self.task_id,
            history: self.history,
            limit: self.limit,
            cursor: self.cursor,
        })?;
        context.answer(&answer, task::card)?;
        context.done(team, Exit::Done)
    }
}
