//! The team as the guard reads it: the log on this machine, or the answer of the daemon on another machine.

use super::WriterArgs;
use crate::agents::subagent::{Acting, Subagent};
use crate::call::ErasedCall;
use crate::command::prelude::*;
use crate::context::not_served;
use crate::forward::GUARD_VIEW;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use teamlog_team::Team;
use teamlog_team::projections::task::HeldResources;
use teamlog_team::resource::can_write::{CanWriteAll, GuardRules, GuardView, WriteVerdict};
use teamlog_team::resource::refused::RefusedWrites;

/// Maximum wait for the daemon. Agents continue without an answer after ten seconds, and recording a refusal takes time too.
const ANSWER_WITHIN: Duration = Duration::from_secs(6);

/// Settings and leases of a team.
pub(super) enum Leases {
    Here(Box<Team>),
    /// The answer of the daemon on another machine.
    Remote {
        team: String,
        /// The agent of the token.
        agent: String,
        view: Box<GuardView>,
    },
}

impl Leases {
    pub fn read(context: &mut Context, named: Option<String>) -> Result<Leases, CommandError> {
        let team = context.team_named(named)?;
        let Some(remote) = context.remote()? else {
            return Ok(Leases::Here(Box::new(context.team(&team)?)));
        };
        let agent = remote.agent().to_owned();
        let view = Box::new(asked(context, &team, &agent)?);
        Ok(Leases::Remote { team, agent, view })
    }

    pub fn team(&self) -> &str {
        match self {
            Leases::Here(team) => team.name(),
            Leases::Remote { team, .. } => team,
        }
    }

    pub fn rules(&mut self) -> Result<GuardRules, CommandError> {
        match self {
            Leases::Here(team) => Ok(team.guard_rules()?),
            Leases::Remote { view, .. } => Ok(view.rules.clone()),
        }
    }

    /// Returns the setting `resources.root`. The setting names a directory of the daemon's machine. On another
    /// machine, the setting counts only if that directory exists there too.
    pub fn root(&mut self) -> Result<String, CommandError> {
        match self {
            Leases::Here(team) => Ok(team.resources_root()?),
            Leases::Remote { view, .. } if Path::new(&view.root).is_dir() => Ok(view.root.clone()),
            Leases::Remote { .. } => Ok(String::new()),
        }
    }

    /// Returns the acting agent. With a token, only the agent of the token may act.
    pub fn acting(
        &mut self,
        context: &Context,
        who: &WriterArgs,
        subagent: Option<&Subagent>,
    ) -> Result<Acting, CommandError> {
        let named = who.named(context);
        let of_token = match self {
            Leases::Here(team) => return Acting::for_team(context, team, named, subagent),
            Leases::Remote { agent, .. } => agent,
        };
        let agent = context.agent("--agent", named)?;
        if agent != *of_token {
            let message = format!(
                "the guard is to decide for {agent}, but the token of TEAMLOG_TOKEN_FILE is of {of_token}"
            );
            let error = CommandError::new(Exit::Usage, "actor_mismatch", message).about("agent");
            return Err(error.or_hint(format!(
                "use a token of {agent}, or act as {of_token} everywhere: TEAMLOG_AGENT and --agent of the hook"
            )));
        }
        Ok(Acting {
            agent,
            parent: None,
            subagent: subagent.map(Subagent::name),
        })
    }

    pub fn can_write_all(
        &mut self,
        asked: &CanWriteAll,
    ) -> Result<Vec<WriteVerdict>, CommandError> {
        match self {
            Leases::Here(team) => Ok(team.can_write_all(asked)?),
            Leases::Remote { view, .. } => Ok(view.can_write_all(asked)),
        }
    }

    pub fn is_stale(&mut self) -> Result<bool, CommandError> {
        match self {
            Leases::Here(team) => Ok(team.is_stale()?),
            Leases::Remote { view, .. } => Ok(view.is_stale),
        }
    }

    pub fn held_by_others(&mut self, own: &[&str]) -> Result<Option<HeldResources>, CommandError> {
        match self {
            Leases::Here(team) => Ok(team.held_by_others(own)?),
            Leases::Remote { view, .. } => Ok(view.held_by_others(own).cloned()),
        }
    }

    /// Returns true if at least one of the refusals should be recorded. A daemon on another machine makes this
    /// decision itself.
    pub fn wants_refused_writes(&mut self, refused: &RefusedWrites) -> bool {
        match self {
            Leases::Here(team) => team.wants_refused_writes(refused).unwrap_or(false),
            Leases::Remote { .. } => true,
        }
    }
}

/// Asks the daemon on another machine. Another thread waits for the daemon, because finding the address of a host has no time
/// limit.
fn asked(context: &mut Context, team: &str, agent: &str) -> Result<GuardView, CommandError> {
    context.concerns(team)?;
    let (mut client, who) = (context.client(context.remote()?), context.who());
    client.step_limit = Some(ANSWER_WITHIN);
    let (name, input) = (team.to_owned(), agent.to_owned());
    let (tell, hear) = mpsc::sync_channel(1);
    let waiting = thread::Builder::new().spawn(move || {
        let send = |sent: ErasedCall<'_>| client.call(sent, &name, &who, Repeat::Same);
        let _ = tell.send(GUARD_VIEW.sent(&input, send));
    });
    waiting.map_err(|error| CommandError::io("start", "a thread", &error))?;
    let silent = |_| {
        let most = ANSWER_WITHIN.as_secs();
        CommandError::unreachable(format!("the daemon gave no answer within {most} seconds"))
    };
    let (ended, view) = hear.recv_timeout(ANSWER_WITHIN).map_err(silent)??;
    let ended = ended.ok_or_else(|| not_served(team))?;
    ended.outcome?;
    view.ok_or_else(|| CommandError::bug("the daemon's answer has no view"))
}
