//! `mode show`: the state of a mode.

use super::request::Target;
use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::render::mode;
use crate::when::Spot;
use teamlog_team::mode::show::ModeShow;

/// Show the state of a mode: that of the session, else that of the root
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog mode show demo ultrawork
  teamlog mode show demo ultrawork --session s-1 --json")]
pub struct Show {
    #[command(flatten)]
    target: Target,
    /// As it was then: once that event was recorded, or at that time: 1h, 14:00, yesterday, ISO 8601
    #[arg(long, value_name = "SEQ|TIME", value_parser = super::point)]
    at: Option<Spot>,
}

impl Show {
    pub fn run(self, context: &mut Context) -> Outcome {
        let show = ModeShow {
            mode: self.target.mode,
            session_id: self.target.scope.session(context)?,
        };
        let mut team = context.team_at(&self.target.team, self.at)?;
        let answer = team.mode_show(show)?;
        context.answer(&answer, mode::card)?;
        context.done(team, Exit::Done)
    }
}
