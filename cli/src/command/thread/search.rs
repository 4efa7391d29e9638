//! `thread search`.

use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::render::thread;
use crate::when::Spot;
use teamlog_team::thread::search::ThreadSearch;

/// Find threads by their titles, messages, participants or task, the newest first; without a text, list them
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Find threads by their titles, messages, participants or task, the newest first; without a text, list \
        them\n\nOne call examines a bounded part of what was said. While there is more to examine the answer has a cursor, \
        even where it has no thread.",
    after_help = "\
Examples:
  teamlog thread search demo
  teamlog thread search demo 'the login' --json"
)]
pub struct Search {
    /// The team
    team: String,
    /// The text, in any case
    #[arg(value_name = "TEXT")]
    query: Option<String>,
    /// Most threads, at most 200 [default: 50]
    #[arg(long, value_name = "N", value_parser = super::whole::<usize>)]
    limit: Option<usize>,
    /// Where the page before says that it goes on
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    /// As it was then: once that event was recorded, or at that time: 1h, 14:00, yesterday, ISO 8601
    #[arg(long, value_name = "SEQ|TIME", value_parser = super::point)]
    at: Option<Spot>,
}

impl Search {
    pub fn run(self, context: &mut Context) -> Outcome {
        let search = ThreadSearch {
            query: self.query,
            limit: self.limit,
            cursor: self.cursor,
        };
        let mut team = context.team_at(&self.team, self.at)?;
        let answer = team.thread_search(&search)?;
        context.answer(&answer, thread::found)?;
        context.done(team, Exit::Done)
    }
}
