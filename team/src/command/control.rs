//! The control fields of a call, beside its input: the key, the trace, the actor and the origin.

use super::authority::{Actor, CommandTerms};
use super::deadline::Deadline;
use crate::prelude::*;

/// The control fields that any command accepts beside its input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Control {
    /// Name of the command; answers under keys are stored with it.
    pub operation: String,
    /// The bytes that identify a request with a key: equal bytes mean the same request.
    pub request: Vec<u8>,
    /// The idempotency key.
    pub key: Option<String>,
    /// Trace of the events; default: the trace of the task or message.
    pub trace_id: Option<String>,
    /// The actor; if `None`, the agent that the input names.
    pub actor: Option<String>,
    /// The operating system's name of the caller, recorded if no actor is given.
    pub user: Option<String>,
    /// Time limit of the caller's wait.
    pub deadline: Deadline,
    /// The origin of the call; no part of the request.
    pub origin: Origin,
    /// The order in which a claim that is presented is checked.
    pub claim_order: ClaimOrder,
    /// The authenticated agent. Set from the root's options; the caller's value is ignored.
    pub authenticated: Option<String>,
    /// True if the authenticated agent recorded the answer under this key when keys still belonged to teams. Set from
    /// the log; the caller's value is ignored.
    pub owns_team_key: bool,
}

/// The order of the checks of a command that presents a claim. The caller is authorized before them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ClaimOrder {
    /// The input, then the task, its status, the claim.
    #[default]
    InputFirst,
    /// The task, the epoch, the status, the holder, the lease, then the input: the caller first learns which part of
    /// its view of the task is outdated.
    EpochFirst,
}

/// The origin of a call, if its surface knows it. A mode stores it when it becomes active.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The tmux pane: `TMUX_PANE`.
    pub tmux_pane: Option<String>,
    /// The workflow session, independent of the scope: `RCS_SESSION_ID`.
    pub rcs_session: Option<String>,
    /// The agent's native session: `CODEX_SESSION_ID`.
    pub codex_session: Option<String>,
}

/// An authenticated agent and its team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authenticated {
    /// Name of the team.
    pub team: String,
    /// Name of the agent.
    pub agent: String,
}

impl Control {
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        // Also accepts characters that new names may not contain: an older key must still find its answer.
        names::check_known_free_given([("key", &self.key)])?;
        names::check_free_given([
            ("trace_id", &self.trace_id),
            ("actor", &self.actor),
            ("user", &self.user),
        ])
    }

    /// Returns the caller, if known.
    pub(crate) fn caller(&self) -> Actor<'_> {
        Actor {
            name: self.actor.as_deref(),
            authenticated: self.authenticated.is_some(),
        }
    }

    pub(crate) fn digest(&self) -> String {
        blake3::hash(&self.request).to_hex().to_string()
    }

    /// Returns the fields with the authenticated agent as actor. Refuses another actor.
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

    /// Refuses an input that names another actor than the authenticated agent. Events that only follow have no actor to
    /// check.
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

    /// Copies the control fields into an event.
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

/// Refuses an actor other than the agent to whom the token belongs.
pub(crate) fn mismatch(agent: &str, actor: &str) -> Refusal {
    let (agent, actor) = (shown(agent), shown(actor));
    let message = format!("actor is {actor}, but the token belongs to {agent}");
    Refusal::new(Code::ActorMismatch, message).field("actor")
}
