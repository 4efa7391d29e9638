//! `mode outcome`: prints the outcome of a mode. As an agent's stop hook, the command lists the modes of the session
//! that have not ended.
//!
//! The command has separate arguments, because `--hook` replaces the mode, and `--input` replaces the mode and the
//! team.

use crate::agents::event::{HookEvent, StopAnswer};
use crate::command::prelude::*;
use crate::command::session::SessionScope;
use crate::render::prompt;
use teamlog_team::mode::outcome::ModeOutcome;
use teamlog_team::mode::rules::reading;
use teamlog_team::mode::rules::shown::ScopeName;
use teamlog_team::mode::show::ModeList;
use teamlog_team::projections::mode::Mode;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Read the outcome of a mode: finished, blocked, failed, userinterlude or askuserQuestion\n\nWith --hook, the JSON of an agent's stop hook is read from standard input. If a mode of \
        the session has not ended, the answer keeps the agent running once, and tells it how to record the end. Otherwise the command prints nothing.",
    after_help = "\
Examples:
  teamlog mode outcome demo ultrawork
  echo '{\"hook_event_name\":\"Stop\",\"session_id\":\"s-1\"}' | teamlog mode outcome demo --hook
  teamlog mode outcome --input '{\"active\":false,\"run_outcome\":\"finish\"}' --json"
)]
pub struct Ended {
    /// The team
    #[arg(required_unless_present = "input")]
    team: Option<String>,
    /// Name of the mode
    #[arg(value_name = "MODE", required_unless_present_any = ["input", "hook"])]
    mode: Option<String>,
    #[command(flatten)]
    scope: SessionScope,
    /// State to read instead of a team's, a JSON object
    #[arg(long, value_name = "JSON|@FILE|-", conflicts_with_all = ["team", "mode", "session", "root", "at"])]
    input: Option<String>,
    #[command(flatten)]
    at: Past,
    /// Read the JSON of an agent's stop hook from standard input, and answer in that hook's form
    #[arg(long, conflicts_with_all = ["mode", "input", "at"])]
    hook: bool,
}

impl Ended {
    pub fn run(self, context: &mut Context) -> Outcome {
        if let Some(input) = &self.input {
            let state = given::object(context.env(), "input", input)?;
            return context.end(Exit::Done, &reading::read(&state)?, prompt::reading);
        }
        if self.hook {
            let team = self.team.unwrap_or_default();
            return stopping(context, &team, self.scope);
        }
        let (Some(team), Some(mode)) = (self.team, self.mode) else {
            let message = "TEAM and MODE are required, or --input".to_owned();
            return Err(CommandError::invalid("mode", message));
        };
        let asked = ModeOutcome {
            mode: Some(mode),
            session_id: self.scope.session(context)?,
            state: None,
        };
        context.show_at(&team, self.at, asked, prompt::reading)
    }
}

/// Answers an agent's stop hook.
///
/// The hook keeps the agent from stopping only once, because the agent may have a good reason to stop. The hook
/// considers only modes of the agent's session, because modes at the root belong to all agents. The hook ignores an
/// interview, because an interview continues with the user's answer.
fn stopping(context: &mut Context, team: &str, scope: SessionScope) -> Outcome {
    context.answer_hook();
    let told = HookEvent::read(context)?;
    let session = scope.session_or(told.session_id, context)?;
    let asked = ModeList {
        session_id: session.clone(),
        active: true,
        ..ModeList::default()
    };
    let listed = context.read(team, asked)?;
    let open = listed.modes.iter().filter(|shown| {
        let ended = reading::read(&shown.state).is_ok_and(|read| read.lifecycle_outcome.is_some());
        shown.scope == ScopeName::Session && shown.mode != Mode::DeepInterview && !ended
    });
    let open: Vec<&str> = open.map(|shown| shown.mode.name()).collect();
    if let (Some(session), false, false) = (&session, open.is_empty(), told.stop_hook_active) {
        context
            .out
            .json(&StopAnswer::new(reason(context, team, session, &open)))?;
    }
    context.ended(Exit::Done)
}

fn reason(context: &Context, team: &str, session: &str, open: &[&str]) -> String {
    let commands = open.iter().map(|mode| {
        let (team, session) = (quoted(team), quoted(session));
        context.command(&format!("mode complete {team} {mode} --session {session}"))
    });
    let commands: Vec<String> = commands.collect();
    format!(
        "{} active in this session and not ended. Go on, or record how it ended: `{}` (or `mode fail`, `mode cancel`).",
        match open {
            [mode] => format!("The mode {mode} is"),
            modes => format!("The modes {} are", modes.join(", ")),
        },
        commands.join("`, `")
    )
}
