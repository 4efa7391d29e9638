//! `mode outcome`: whether a mode ended, and how. As the hook of an agent that is about to stop: which modes of its session
//! have not.

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
    long_about = "Read from a state whether its mode ended, and how: finished, blocked, failed, userinterlude or \
        askuserQuestion\n\nWith --hook the JSON of an agent's hook stands on standard input, which says that the agent is \
        about to stop. Where a mode of its session has not ended, the answer keeps the agent going, once, and tells it how \
        to record the end; else there is none.",
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
    /// The mode
    #[arg(value_name = "MODE", required_unless_present_any = ["input", "hook"])]
    mode: Option<String>,
    #[command(flatten)]
    scope: SessionScope,
    /// A state to read instead, a JSON object; there is no team then
    #[arg(long, value_name = "JSON|@FILE|-", conflicts_with_all = ["team", "mode", "session", "root", "at"])]
    input: Option<String>,
    #[command(flatten)]
    at: Past,
    /// Take the JSON of an agent's stop hook, and answer as that hook does
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
            let message = "mode must be given, or --input".to_owned();
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

/// Whether an agent may stop. It is kept from it only once, since it may know better; by modes of its own session only,
/// since those of the root are everybody's; and never by an interview, which goes on with its user's answer.
fn stopping(context: &mut Context, team: &str, scope: SessionScope) -> Outcome {
    context.answer_hook();
    let told = HookEvent::read(context)?;
    let session = scope.session_or(told.session_id, context)?;
    let mut handle = context.team(team)?;
    let listed = handle.mode_list(ModeList {
        session_id: session.clone(),
        active: true,
        ..ModeList::default()
    })?;
    let open = listed.modes.iter().filter(|shown| {
        let ended = reading::read(&shown.state).is_ok_and(|read| read.lifecycle_outcome.is_some());
        shown.scope == ScopeName::Session && shown.mode != Mode::DeepInterview && !ended
    });
    let open: Vec<&str> = open.map(|shown| shown.mode.name()).collect();
    if let (Some(session), false, false) = (&session, open.is_empty(), told.stop_hook_active) {
        context
            .out
            .json(&StopAnswer::of(reason(context, team, session, &open)))?;
    }
    context.done(handle, Exit::Done)
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
