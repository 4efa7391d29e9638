//! `thread tail`.

use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::render::thread;
use crate::when::Spot;
use teamlog_team::thread::tail::ThreadTail;

/// Show the newest messages of a thread, oldest first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog thread tail demo thread-0001
  teamlog thread tail demo thread-0001 --limit 200 --json")]
pub struct Tail {
    /// The team
    team: String,
    /// The thread
    #[arg(value_name = "THREAD")]
    thread: String,
    /// Most messages, at most 200 [default: 20]
    #[arg(long, value_name = "N", value_parser = super::whole::<usize>)]
    limit: Option<usize>,
    /// Where the page before says that older ones go on
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    /// As it was then: once that event was recorded, or at that time: 1h, 14:00, yesterday, ISO 8601
    #[arg(long, value_name = "SEQ|TIME", value_parser = super::point)]
    at: Option<Spot>,
}

impl Tail {
    pub fn run(self, context: &mut Context) -> Outcome {
        let tail = ThreadTail {
            thread_id: self.thread,
            limit: self.limit,
            cursor: self.cursor,
        };
        let mut team = context.team_at(&self.team, self.at)?;
        let answer = team.thread_tail(&tail)?;
        context.answer(&answer, thread::page)?;
        context.done(team, Exit::Done)
    }
}
