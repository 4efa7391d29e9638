//! `mode outcome`: whether a mode ended, and how.

use crate::command::given;
use crate::command::session::Meant;
use crate::context::Context;
use crate::exit::{CommandError, Exit, Outcome as Ending};
use crate::render::prompt;
use teamlog_team::command::mode_outcome::ModeOutcome;
use teamlog_team::engine::reader::Point;
use teamlog_team::modes::reading;

/// Read from a state whether its mode ended, and how: finished, blocked, failed, userinterlude or askuserQuestion
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog mode outcome demo ultrawork
  teamlog mode outcome --input '{\"active\":false,\"run_outcome\":\"finish\"}' --json")]
pub struct Outcome {
    /// The team
    #[arg(required_unless_present = "input")]
    team: Option<String>,
    /// The mode
    #[arg(value_name = "MODE", required_unless_present = "input")]
    mode: Option<String>,
    #[command(flatten)]
    meant: Meant,
    /// A state to read instead, a JSON object; there is no team then
    #[arg(long, value_name = "JSON|@FILE|-", conflicts_with_all = ["team", "mode", "session", "root", "at"])]
    input: Option<String>,
    /// As it was then: once that event was recorded, or at that time (ISO 8601)
    #[arg(long, value_name = "SEQ|TIME", value_parser = super::point)]
    at: Option<Point>,
}

impl Outcome {
    pub fn run(self, context: &mut Context) -> Ending {
        if let Some(input) = &self.input {
            let state = given::object(context.surroundings(), "input", input)?;
            context.answer(&reading::read(&state)?, prompt::reading)?;
            return Ok(Exit::Done);
        }
        let (Some(team), Some(mode)) = (self.team, self.mode) else {
            let message = "mode must be given, or --input".to_owned();
            return Err(CommandError::invalid("mode", message));
        };
        let asked = ModeOutcome {
            mode: Some(mode),
            session_id: self.meant.session(context)?,
            state: None,
        };
        let mut team = context.team_at(&team, self.at)?;
        let reading = team.mode_outcome(asked)?;
        context.answer(&reading, prompt::reading)?;
        context.done(team, Exit::Done)
    }
}
