//! `hooks`: installs and checks the hook with which a coding agent asks `teamlog guard` before each write.

mod doctor;
mod install;

use crate::agents::Agent;
use crate::command::prelude::*;
use crate::forward::{GUARD_VIEW, REMOTE_VARIABLES, Remote};
pub use doctor::PROBE;
use doctor::{Doctor, HooksDoctorAnswer};
use install::{HooksAnswer, Install};
use teamlog_team::resource::can_write::GuardRules;

subcommands! {
    @examples "\
  teamlog hooks install claude demo --agent dev
  teamlog hooks doctor claude";
    INSTALL = own(
        answer::<HooksAnswer>("install"),
        "Make a coding agent ask the guard before it writes; without --write only show what would be done",
        Install::run,
    );
    DOCTOR = own(
        answer::<HooksDoctorAnswer>("doctor"),
        "Check that a coding agent's hook is installed, and that it denies a write that must be denied",
        Doctor::run,
    );
}

// The location of an agent's hooks. Not a doc comment, because clap would print it in the help of each command.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct Place {
    /// The project directory [default: the working directory]
    #[arg(long, value_name = "DIR", conflicts_with = "user")]
    pub dir: Option<PathBuf>,
    /// Use the user's own configuration, which applies to all projects
    #[arg(long)]
    pub user: bool,
}

/// Returns the step that the user must take before the agent runs an installed hook, if there is one.
pub fn trust(whose: Agent) -> Option<&'static str> {
    (whose == Agent::Codex).then_some(
        "Codex skips new and changed hooks without a word until you trust them: type /hooks in Codex, and review them there",
    )
}

/// Returns notes about the variables that the environment of an agent must contain, if the hooks ask a daemon on another machine.
pub fn environment(context: &Context) -> Vec<String> {
    let mut notes = Vec::new();
    if context.is_remote() {
        let [address, token, authorities] = REMOTE_VARIABLES;
        notes.push(format!(
            "the hooks and the MCP server ask the daemon that the environment names: set {address}, {token} and, if needed, {authorities} where the agent is started"
        ));
        let relative = Remote::relative_paths(context.env());
        if !relative.is_empty() {
            notes.push(format!(
                "the agent runs the hooks in other directories: give {} an absolute path",
                relative.join(" and ")
            ));
        }
    }
    notes
}

/// Returns the team's settings of the guard, and the setting `resources.root`. Checks the agent for which a hook is installed.
pub fn rules(
    context: &mut Context,
    team: &str,
    agent: Option<&str>,
) -> Result<(GuardRules, String), CommandError> {
    if let Some(remote) = context.remote()? {
        let own = remote.agent();
        if let Some(agent) = agent.filter(|agent| *agent != own) {
            let message = format!(
                "agent must be {own}, the agent of the token in TEAMLOG_TOKEN_FILE, but is {agent}"
            );
            return Err(CommandError::invalid("agent", message));
        }
        let view = context.fetch(&GUARD_VIEW, team, own.to_owned())?;
        return Ok((view.rules, view.root));
    }
    let mut handle = context.team(team)?;
    if let Some(agent) = agent {
        handle.knows("agent", agent)?;
    }
    Ok((handle.guard_rules()?, handle.resources_root()?))
}
