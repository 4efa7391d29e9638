//! Control fields of a call: key, trace, actor and origin. A call has these fields in addition to
//! its input.

use super::authority::{Actor, CommandTerms};
use super::deadline::Deadline;
use crate::prelude::*;

/// Control fields of a call. Every command accepts these fields in addition to its input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Control {
    /// Name of the command. Answers under idempotency keys are stored with this name.
    pub operation: String,
    /// Bytes that identify the request. A repetition under the idempotency key must have equal bytes.
    pub request: Vec<u8>,
    /// The idempotency key.
    pub key: Option<String>,
    /// Trace of the events; the trace of the task or message if absent.
    pub trace_id: Option<String>,
    /// Actor of the events; the agent that the input names if absent.
    pub actor: Option<String>,
    /// Name of the caller's operating system account; the actor if no other actor is known.
    pub user: Option<String>,
    /// Time limit of the caller's wait.
    pub deadline: Deadline,
    /// Origin of the call. The origin is not part of the request.
    pub origin: Origin,
    /// Order of the checks of a presented claim.
    pub claim_order: ClaimOrder,
    /// The authenticated agent. The value comes from the root's options; a value of the caller is
    /// ignored.
    pub authenticated: Option<String>,
    /// True if an older version, in which keys belonged to teams, stored the answer under this key for the authenticated agent. The flag
    /// comes from the log; a value of the caller is ignored.
    pub owns_team_key: bool,
}

/// The order of the checks if a command presents a claim. The caller is authorized before these checks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ClaimOrder {
    /// The order is: input, task, status, claim.
    #[default]
    InputFirst,
    /// The order is: task, epoch, status, holder, lease, input. A caller with outdated knowledge of the task first learns that its
    /// knowledge is outdated, and only later learns of faults in its input.
    EpochFirst,
}

/// Origin of a call, if the call's surface knows the origin. A mode stores the origin when the mode becomes active.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Pane of tmux, from `TMUX_PANE`.
    pub tmux_pane: Option<String>,
    /// Id of the workflow session, from `RCS_SESSION_ID`. The id does not depend on the scope.
    pub rcs_session: Option<String>,
    /// Id of the agent's own session, from `CODEX_SESSION_ID`.
    pub codex_session: Option<String>,
    /// The session that makes and presents claims: `TEAMLOG_SESSION`, else the agent's own session, else the terminal's.
    #[serde(default)]
    pub claim_session: Option<String>,
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
        // Accepts characters that new keys must not contain, because an old key must still find its
        // answer.
        names::check_known_free_given([("key", &self.key)])?;
        names::check_free_given([
            ("trace_id", &self.trace_id),
            ("actor", &self.actor),
            ("user", &self.user),
            ("session", &self.origin.claim_session),
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

    /// Returns the fields with the authenticated agent as actor. Refuses any other actor.
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

    /// Refuses an input that names another actor than the authenticated agent. Events that are only a consequence of another
    /// event have no actor to check.
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

/// Returns the refusal for an actor that is not the owner of the token.
pub(crate) fn mismatch(agent: &str, actor: &str) -> Refusal {
    let (agent, actor) = (shown(agent), shown(actor));
    let message = format!("actor is {actor}, but the token belongs to {agent}");
    Refusal::new(Code::ActorMismatch, message).field("actor")
}
