//! Who calls: the actor, the session and the place that a command is given from.

use super::Context;
use crate::env::ProcessEnv;
use crate::exit::CommandError;
use crate::global::Global;
use teamlog_team::command::Origin;
use teamlog_team::projections::mode::is_session_id;

/// Most bytes of what the environment says of where a call is done from.
const ORIGIN_BYTES_MAX: usize = 128;
/// Where the session that is meant stands, the first that is set before the others.
const SESSION_VARIABLES: [&str; 3] = ["RCS_SESSION_ID", "CODEX_SESSION_ID", "SESSION_ID"];

impl Context {
    /// Who acts, if said by `--actor` or the environment, or by the token for a daemon on another machine.
    pub fn actor(&self) -> Option<String> {
        let of_token = || Some(self.remote().ok()??.agent().to_owned());
        self.actor.clone().or_else(of_token)
    }

    /// Whom the system takes the caller for: recorded where nobody says who acts.
    pub fn user(&self) -> String {
        self.env.user()
    }

    /// Who is recorded as having done it: who acts, else the user.
    pub fn doer(&self) -> Option<String> {
        let user = || (!self.is_remote()).then(|| self.user());
        self.actor().or_else(user)
    }

    /// The `--actor` of this command line, the environment not asked: `replay` filters by it.
    pub fn actor_flag(&self) -> Option<String> {
        self.actor_flag.clone()
    }

    /// The agent that a flag names, else who acts.
    pub fn agent(&self, flag: &str, named: Option<String>) -> Result<String, CommandError> {
        let agent = named.or_else(|| self.actor());
        if let Some(agent) = &agent {
            // A command asks once; of several the first counts.
            let _ = self.acting.set(agent.clone());
        }
        agent.ok_or_else(|| {
            let message = format!(
                "{flag} is required: there is neither --actor nor TEAMLOG_AGENT to stand in for it"
            );
            CommandError::usage(message).or_hint("export TEAMLOG_AGENT=NAME")
        })
    }

    /// The session that the environment names, if it names one: a blank variable is none.
    pub fn session(&self) -> Result<Option<String>, CommandError> {
        let set = SESSION_VARIABLES.iter().find_map(|variable| {
            let value = self.env.var(variable)?;
            let text = value.to_string_lossy().trim().to_owned();
            (!text.is_empty()).then_some((*variable, text))
        });
        match set {
            None => Ok(None),
            Some((_, session)) if is_session_id(&session) => Ok(Some(session)),
            Some((variable, session)) => {
                let message =
                    format!("{variable} must match ^[A-Za-z0-9_-]{{1,64}}$, but is {session:?}");
                let error = CommandError::invalid("session_id", message);
                Err(error.or_hint(format!(
                    "unset {variable}, or name a session with --session"
                )))
            }
        }
    }

    pub fn origin(&self) -> Origin {
        let said = |variable: &str| {
            let value = self.env.var(variable)?;
            let text = value.to_string_lossy().trim().to_owned();
            let plain = !text.is_empty() && !text.chars().any(char::is_control);
            (plain && text.len() <= ORIGIN_BYTES_MAX).then_some(text)
        };
        Origin {
            tmux_pane: said("TMUX_PANE"),
            rcs_session: said("RCS_SESSION_ID"),
            codex_session: said("CODEX_SESSION_ID"),
        }
    }
}

/// Who acts: `--actor`, else the environment.
pub(super) fn actor(global: &Global, env: &ProcessEnv) -> Result<Option<String>, CommandError> {
    if global.actor.is_some() {
        return Ok(global.actor.clone());
    }
    match env.var_set("TEAMLOG_AGENT") {
        None => Ok(None),
        Some(value) => value.into_string().map(Some).map_err(|value| {
            CommandError::invalid(
                "TEAMLOG_AGENT",
                format!("TEAMLOG_AGENT must be UTF-8, but is {value:?}"),
            )
        }),
    }
}
