//! `mode clear`: the state of a mode goes.

use super::request::Target;
use crate::command::stamp::Stamp;
use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::render::mode;
use teamlog_team::mode::clear::ModeClear;

/// Take the state of a mode away, active or not, so that others may start
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Take the state of a mode away, active or not, so that others may start\n\nWhere the root has a state of \
        the mode too, the session keeps a mark that hides it; the root's own goes by --root.",
    after_help = "\
Examples:
  teamlog mode clear demo ultrawork
  teamlog mode clear demo forge --session s-1
  teamlog mode clear demo ultrawork --all-sessions --json"
)]
pub struct Clear {
    #[command(flatten)]
    target: Target,
    /// The states of the root and of every session
    #[arg(long, conflicts_with_all = ["session", "root"])]
    all_sessions: bool,
    #[command(flatten)]
    stamp: Stamp,
}

impl Clear {
    pub fn run(self, context: &mut Context) -> Outcome {
        let input = ModeClear {
            mode: self.target.mode,
            session_id: match self.all_sessions {
                true => None,
                false => self.target.scope.session(context)?,
            },
            all_sessions: self.all_sessions,
        };
        self.stamp
            .carry_out(context, &self.target.team, input, mode::cleared)?;
        Ok(Exit::Done)
    }
}
