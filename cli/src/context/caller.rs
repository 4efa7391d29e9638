//! The caller of a command: its agent, its user and its session.

use super::Context;
use crate::env::ProcessEnv;
use crate::exit::{CommandError, Exit};
use crate::forward::SESSION_CLAIM;
use crate::global::Global;
use teamlog_team::SessionClaim;
use teamlog_team::command::Origin;
use teamlog_team::projections::mode::is_session_id;

/// Maximum number of bytes of the text with which the environment names the caller's location.
const ORIGIN_BYTES_MAX: usize = 128;
/// Environment variables that name the session. The first variable that is set counts.
const SESSION_VARIABLES: [&str; 3] = ["RCS_SESSION_ID", "CODEX_SESSION_ID", "SESSION_ID"];

/// Environment variables that name the session of a claim. The first variable that is set counts. Codex and Claude Code set the
/// last three in the shells of their agents.
const CLAIM_VARIABLES: [&str; 5] = [
    "TEAMLOG_SESSION",
    "RCS_SESSION_ID",
    "CODEX_SESSION_ID",
    "CODEX_THREAD_ID",
    "CLAUDE_CODE_SESSION_ID",
];

impl Context {
    /// Returns the acting agent, from `--actor`, the environment, or the token for a daemon on another machine.
    pub fn actor(&self) -> Option<String> {
        let of_token = || Some(self.remote().ok()??.agent().to_owned());
        self.actor.clone().or_else(of_token)
    }

    /// Returns the user of the operating system. The user is recorded as actor if no agent is named.
    pub fn user(&self) -> String {
        self.env.user()
    }

    /// Returns the actor to record: the acting agent, or else the user.
    pub fn doer(&self) -> Option<String> {
        let user = || (!self.is_remote()).then(|| self.user());
        self.actor().or_else(user)
    }

    /// Returns the value of `--actor`. Ignores the environment, because `replay` uses the option as a filter.
    pub fn actor_flag(&self) -> Option<String> {
        self.actor_flag.clone()
    }

    /// Returns the agent `named` by the option `flag`, or else the acting agent.
    pub fn agent(&self, flag: &str, named: Option<String>) -> Result<String, CommandError> {
        let agent = named.or_else(|| self.actor());
        if let Some(agent) = &agent {
            // Hints use the first agent that the command names.
            let _ = self.acting.set(agent.clone());
        }
        agent.ok_or_else(|| {
            let message = format!("who are you? pass {flag} NAME, or export TEAMLOG_AGENT=NAME");
            CommandError::usage(message).or_hint("export TEAMLOG_AGENT=NAME")
        })
    }

    /// Returns the session that the environment names. A blank variable counts as not set.
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
            claim_session: CLAIM_VARIABLES
                .into_iter()
                .find_map(said)
                .or_else(|| self.env.terminal_session()),
        }
    }

    /// Returns the epoch of the live claim that the acting agent made in this session.
    pub fn own_epoch(
        &mut self,
        team: &str,
        task_id: &str,
        worker: Option<String>,
    ) -> Result<u64, CommandError> {
        let worker = self.agent("--worker", worker)?;
        let Some(session) = self.origin().claim_session else {
            let message = "the session is unknown: pass the epoch of your claim with --epoch N";
            let error = CommandError::usage(message);
            return Err(error.or_hint("export TEAMLOG_SESSION=NAME before you claim"));
        };
        let asked = SessionClaim {
            task_id: task_id.to_owned(),
            worker,
            session,
        };
        let found = self.fetch(&SESSION_CLAIM, team, asked)?;
        let Some(earlier) = found.earlier else {
            return Ok(found.epoch);
        };
        let epoch = found.epoch;
        let message = format!(
            "this session's claim of task {task_id} (epoch {earlier}) has ended; the task now has a claim with epoch {epoch}"
        );
        let error = CommandError::new(Exit::Refused, "claim_changed", message).about("epoch");
        let error = error
            .detailing("epoch", &epoch.to_string())
            .detailing("earlier_epoch", &earlier.to_string());
        Err(error.or_hint(format!(
            "if you mean the present claim, pass --epoch {epoch}"
        )))
    }
}

/// Returns the acting agent, from `--actor` or the environment.
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
