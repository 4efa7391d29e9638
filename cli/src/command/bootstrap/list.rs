//! `bootstrap list`: which runs there are.

use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::render::bootstrap;
use crate::when::Spot;
use teamlog_team::bootstrap::list::BootstrapList;

/// List runs, the newest first: how far each is, its case and when it began
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog bootstrap list demo
  teamlog bootstrap list demo --limit 1 --json")]
pub struct List {
    /// The team
    team: String,
    /// Most runs; 0 is all [default: 50]
    #[arg(long, value_name = "N", value_parser = crate::command::whole::<usize>)]
    limit: Option<usize>,
    /// The `next_cursor` of the page before
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    /// As it was then: once that event was recorded, or at that time: 1h, 14:00, yesterday, ISO 8601
    #[arg(long, value_name = "SEQ|TIME", value_parser = super::point)]
    at: Option<Spot>,
}

impl List {
    pub fn run(self, context: &mut Context) -> Outcome {
        let mut team = context.team_at(&self.team, self.at)?;
        let answer = team.bootstrap_list(&BootstrapList {
            limit: self.limit,
            cursor: self.cursor,
        })?;
        context.answer(&answer, bootstrap::listed)?;
        context.done(team, Exit::Done)
    }
}
