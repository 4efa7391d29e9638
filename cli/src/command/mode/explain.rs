//! `mode explain`: what would become of making a mode active.

use crate::command::session::SessionScope;
use crate::context::Context;
use crate::exit::{CommandError, Exit, Outcome};
use crate::render::prompt;
use crate::when::Spot;
use teamlog_team::mode::explain::{ModeExplain, explain};
use teamlog_team::mode::rules::transition::Review;

/// Say what would become of making a mode active, without doing it
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Say what would become of making a mode active, without doing it\n\nWith --active it says so for these \
        modes, in the order in which they became active, and there is no team. A denial is an answer: it ends with 0.",
    after_help = "\
Examples:
  teamlog mode explain demo blueprint
  teamlog mode explain --active team,forge blueprint --json
  teamlog mode explain --active autopilot blueprint --review clean"
)]
pub struct Explain {
    /// The team; with --active, the mode
    #[arg(value_name = "TEAM")]
    team: String,
    /// The mode
    #[arg(value_name = "MODE", required_unless_present = "active")]
    mode: Option<String>,
    /// The modes that are active, by comma, the first one first; names of none are left out
    #[arg(long, value_name = "MODES", conflicts_with_all = ["mode", "session", "root", "at"])]
    active: Option<String>,
    /// What the review of autopilot's code said: unknown, not-clean or clean [default: unknown]
    #[arg(long, value_name = "VERDICT", requires = "active", conflicts_with = "mode", value_parser = verdict)]
    review: Option<Review>,
    #[command(flatten)]
    scope: SessionScope,
    /// As it was then: once that event was recorded, or at that time: 1h, 14:00, yesterday, ISO 8601
    #[arg(long, value_name = "SEQ|TIME", value_parser = super::point)]
    at: Option<Spot>,
}

fn verdict(text: &str) -> Result<Review, String> {
    Review::from_name(text).ok_or_else(|| "must be unknown, not-clean or clean".to_owned())
}

impl Explain {
    pub fn run(self, context: &mut Context) -> Outcome {
        if let Some(active) = &self.active {
            let active: Vec<&str> = active.split(',').map(str::trim).collect();
            let told = explain(&active, &self.team, self.review.unwrap_or_default())?;
            context.answer(&told, prompt::transition)?;
            return Ok(Exit::Done);
        }
        let Some(mode) = self.mode else {
            return Err(CommandError::invalid(
                "mode",
                "mode must be given".to_owned(),
            ));
        };
        let session_id = self.scope.session(context)?;
        let mut team = context.team_at(&self.team, self.at)?;
        let told = team.mode_explain(ModeExplain { mode, session_id })?;
        context.answer(&told, prompt::transition)?;
        context.done(team, Exit::Done)
    }
}
