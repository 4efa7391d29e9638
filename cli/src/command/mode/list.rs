//! `mode list`: how all modes stand.

use crate::command::session::SessionScope;
use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::render::mode;
use crate::when::Spot;
use teamlog_team::mode::show::ModeList;

/// List the states of modes, those of a session before those of the root
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog mode list demo
  teamlog mode list demo --all-sessions --active --json")]
pub struct List {
    /// The team
    team: String,
    #[command(flatten)]
    scope: SessionScope,
    /// Those of the root and of every session, each by itself
    #[arg(long, conflicts_with_all = ["session", "root"])]
    all_sessions: bool,
    /// Only active ones
    #[arg(long)]
    active: bool,
    /// Most sessions; 0 is all [default: 50]
    #[arg(long, value_name = "N", requires = "all_sessions", value_parser = super::whole::<usize>)]
    limit: Option<usize>,
    /// The session that the page before ended with
    #[arg(long, value_name = "SESSION", requires = "all_sessions")]
    cursor: Option<String>,
    /// As it was then: once that event was recorded, or at that time: 1h, 14:00, yesterday, ISO 8601
    #[arg(long, value_name = "SEQ|TIME", value_parser = super::point)]
    at: Option<Spot>,
}

impl List {
    pub fn run(self, context: &mut Context) -> Outcome {
        let list = ModeList {
            session_id: match self.all_sessions {
                true => None,
                false => self.scope.session(context)?,
            },
            all_sessions: self.all_sessions,
            active: self.active,
            limit: self.limit,
            cursor: self.cursor,
        };
        let mut team = context.team_at(&self.team, self.at)?;
        let answer = team.mode_list(list)?;
        context.answer(&answer, mode::page)?;
        context.done(team, Exit::Done)
    }
}
