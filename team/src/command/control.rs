//! The control fields of a call, beside its input: the key, the trace, the actor and the origin.

use super::authority::{Actor, CommandTerms};
use super::deadline::Deadline;
use crate::prelude::*;

/// The control fields that any command accepts beside its input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Control {
    /// The command's name, as its answer is stored under.
    pub operation: String,
    /// The bytes that identify a request with a key: equal bytes mean the same request.
    pub request: Vec<u8>,
    /// The idempotency key.
    pub key: Option<String>,
    /// The story that its events belong to; else that of the task or the message.
    pub trace_id: Option<String>,
    /// The actor; if `None`, the agent that the input names.
    pub actor: Option<String>,
    /// The operating system's name of the caller, recorded if no actor is given.
    pub user: Option<String>,
    /// How long whoever asked waits.
    pub deadline: Deadline,
    /// The origin of the call; no part of the request.
    pub origin: Origin,
    /// The order in which a claim that is presented is checked.
    pub claim_order: ClaimOrder,
    /// The agent that the caller proved to be, as the options of its root say; whatever stands here gives way to that.
    pub authenticated: Option<String>,
    /// True if that agent recorded the answer of the team's key, before keys belonged to agents. Whatever the caller sets is
    /// replaced by what the log says.
    pub owns_team_key: bool,
}

/// The order of the checks of a command that presents a claim. In each order the caller is authorized before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ClaimOrder {
    /// The input, then the task, its state, the claim.
    #[default]
    InputFirst,
    /// The task, the epoch, the state, the holder, the lease, then the input: each caller learns first what is wrong with its
    /// view of the task.
    EpochFirst,
}

/// The origin of a call, as far as its surface knows it. A mode stores it when it becomes active.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The pane of tmux: `TMUX_PANE`.
    pub tmux_pane: Option<String>,
    /// The session of the workflow, whatever scope is meant: `RCS_SESSION_ID`.
    pub rcs_session: Option<String>,
    /// The native session of the agent: `CODEX_SESSION_ID`.
    pub codex_session: Option<String>,
}

/// An agent of a team that proved to be it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authenticated {
    /// The team.
    pub team: String,
    /// The agent.
    pub agent: String,
}

impl Control {
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        // A key that was given before must find its answer.
        names::check_known_free_given([("key", &self.key)])?;
        names::check_free_given([
            ("trace_id", &self.trace_id),
            ("actor", &self.actor),
            ("user", &self.user),
        ])
    }

    /// The caller, as far as it is known.
    pub(crate) fn caller(&self) -> Actor<'_> {
        Actor {
            name: self.actor.as_deref(),
            authenticated: self.authenticated.is_some(),
        }
    }

    pub(crate) fn digest(&self) -> String {
        blake3::hash(&self.request).to_hex().to_string()
    }

    /// The same on behalf of the agent that the caller proved to be, where that was asked.
    pub(crate) fn authenticated(&self, known: Option<&Authenticated>) -> Result<Control, Refusal> {
        let mut control = Control {
            authenticated: None,
            ..self.clone()
        };
        if let Some(Authenticated { agent, .. }) = known {
            if let Some(actor) = self.actor.as_ref().filter(|actor| *actor != agent) {
                return Err(mismatch(agent, actor));
            }
            control.actor = Some(agent.clone());
            control.authenticated = Some(agent.clone());
        }
        Ok(control)
    }

    /// Refuses what the input says another agent does than whom the caller proved to be. What only follows is nobody's doing.
    pub(crate) fn check_actor(
        &self,
        terms: &CommandTerms<'_>,
        event: &NewEvent,
        follows: bool,
    ) -> Result<(), Refusal> {
        let Some(agent) = &self.authenticated else {
            return Ok(());
        };
        let unnamed = !terms.names_actor
            || event.actor == DEFAULT_ACTOR
            || (terms.led && event.actor == LEADER)
            || follows;
        let actor = (!unnamed).then_some(&*event.actor);
        let other = actor.filter(|named| named != agent);
        other.map_or(Ok(()), |other| Err(mismatch(agent, other)))
    }

    /// The control fields that the caller gave.
    pub(crate) fn mark(&self, terms: &CommandTerms<'_>, event: &mut NewEvent, follows: bool) {
        if !follows {
            let unnamed = !terms.names_actor || event.actor == DEFAULT_ACTOR;
            let user = self.user.as_ref().filter(|_| unnamed);
            if let Some(actor) = self.actor.as_ref().or(user) {
                event.actor.clone_from(actor);
            }
            if let Some(trace) = &self.trace_id {
                event.refs.set(RefKind::Trace, trace.clone());
            }
        }
        if let Some(key) = &self.key {
            event.refs.set(RefKind::Key, key.clone());
        }
    }
}

/// The token is one agent's, and the other is said to act.
pub(crate) fn mismatch(agent: &str, actor: &str) -> Refusal {
    let (agent, actor) = (shown(agent), shown(actor));
    let message = format!("actor must be {agent}, to whom the token belongs, but is {actor}");
    Refusal::new(Code::ActorMismatch, message).field("actor")
}
