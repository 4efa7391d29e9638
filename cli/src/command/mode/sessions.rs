//! `mode sessions`, `mode end-session`: who works in a team, and the end of one that does no more.

use crate::command::session::SessionScope;
use crate::command::stamp::Stamp;
use crate::context::Context;
use crate::exit::{CommandError, Exit, Outcome};
use crate::render::mode;
use teamlog_team::mode::sessions::{ModeEndSession, ModeSessions};

/// List the sessions that work in a team: since when, when they were heard of last, and whether they ended
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog mode sessions demo
  teamlog mode sessions demo --limit 10 --json")]
pub struct Sessions {
    /// The team
    team: String,
    /// Most sessions; 0 is all [default: 50]
    #[arg(long, value_name = "N", value_parser = super::whole::<usize>)]
    limit: Option<usize>,
    /// The session that the page before ended with
    #[arg(long, value_name = "SESSION")]
    cursor: Option<String>,
}

/// End a session: what is active in it is canceled, and it holds up nobody any more
#[derive(Debug, clap::Args)]
#[command(
    long_about = "End a session: what is active in it is canceled, and it holds up nobody any more\n\nMeant for the hook that \
        an agent runs when its session ends. A session that is unknown, or ended already, stays as it is.",
    after_help = "\
Examples:
  teamlog mode end-session demo --session s-1
  teamlog mode end-session demo --session s-1 --reason 'the terminal was closed' --json"
)]
pub struct EndSession {
    /// The team
    team: String,
    #[command(flatten)]
    scope: SessionScope,
    /// Why it ends
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    stamp: Stamp,
}

impl Sessions {
    pub fn run(self, context: &mut Context) -> Outcome {
        let asked = ModeSessions {
            limit: self.limit,
            cursor: self.cursor,
        };
        let mut team = context.team(&self.team)?;
        let answer = team.mode_sessions(asked)?;
        context.answer(&answer, mode::sessions)?;
        context.done(team, Exit::Done)
    }
}

impl EndSession {
    pub fn run(self, context: &mut Context) -> Outcome {
        let Some(session_id) = self.scope.session(context)? else {
            let message = "session_id must be given, as --session or by the environment";
            return Err(CommandError::invalid("session_id", message));
        };
        let input = ModeEndSession {
            session_id,
            reason: self.reason,
        };
        self.stamp
            .carry_out(context, &self.team, input, mode::session_ended)?;
        Ok(Exit::Done)
    }
}
