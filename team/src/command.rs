//! A command as data: the context of its call, its terms, and its decision.

pub(crate) mod authority;
mod control;
pub mod deadline;

pub use control::{Authenticated, ClaimOrder, Control, Origin};

pub(crate) use authority::{Actor, Authority, CommandTerms};
pub(crate) use control::mismatch;

use crate::prelude::*;
use teamlog_engine::Room;
use teamlog_engine::{Clock, IdSource};

/// Kinds of events that follow from other events or from time.
const CONSEQUENCES: [&str; 3] = ["task_blocked", "task_unblocked", "task_lease_expired"];

/// The context of a call, beside the input of its command.
#[derive(Debug, Clone)]
pub(crate) struct Ctx {
    /// The time of the decision.
    pub now: Timestamp,
    /// Clock that measures durations.
    pub clock: Arc<dyn Clock>,
    /// Source of random bits, for tokens.
    pub ids: Arc<dyn IdSource>,
    /// Control fields of the call, with the caller.
    pub control: Control,
}

impl Ctx {
    /// Returns the acting agent: the agent that the input names, else the authenticated agent.
    pub fn agent<'a>(&'a self, named: Option<&'a str>) -> Option<&'a str> {
        named.or(self.control.authenticated.as_deref())
    }
}

/// A command: decides on the state, and answers from the state after its own events.
pub(crate) trait Command: Clone + Send + 'static {
    /// Part of the decision that the answer needs.
    type Decided: Send + 'static;
    /// The answer. If it can be serialized and read back, it can be repeated under a key.
    type Answer: Send + 'static;

    /// Returns the callers that may run the command, and when. There is no default, so nothing is permitted by
    /// omission.
    fn terms(&self) -> CommandTerms<'_>;

    /// Returns true if one of the command's events is only a consequence: it keeps the trace of its own subject, and
    /// has no actor.
    fn is_consequence(&self, event: &NewEvent) -> bool {
        CONSEQUENCES.contains(&&*event.kind)
    }

    /// Decides from input, context and state alone (pure). An error records nothing.
    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<Self::Decided>>;

    /// Returns the answer, after the events were stamped and folded.
    fn answer(&self, decided: &Self::Decided, after: &After<'_>) -> Result<Self::Answer>;

    /// Returns the maximum room that the events of [`Command::stored_answers`] need.
    fn room(&self) -> Room {
        Room::default()
    }

    /// Returns events that store answers under further keys, for a command that accepts several.
    fn stored_answers(&self, _: &Self::Decided, _: &After<'_>) -> Vec<NewEvent> {
        Vec::new()
    }
}

pub(crate) enum Decision<D> {
    /// Grants the command and records these events (none if nothing changes).
    Granted(D, Vec<NewEvent>),
    /// Refuses the command, but records these facts.
    Denied(Refusal, Vec<NewEvent>),
}

/// Answer of a command, and the events that it records.
pub(crate) type Acted<A> = Result<(A, Vec<NewEvent>)>;

/// Creates a command from a function that decides and answers at once.
pub(crate) fn act<A: Clone + Send + 'static>(
    terms: CommandTerms<'static>,
    decide: impl Fn(&Ctx, &Live) -> Acted<A> + Clone + Send + 'static,
) -> impl Command<Answer = A> {
    Act { terms, decide }
}

#[derive(Clone)]
struct Act<F> {
    terms: CommandTerms<'static>,
    decide: F,
}

impl<A, F> Command for Act<F>
where
    A: Clone + Send + 'static,
    F: Fn(&Ctx, &Live) -> Acted<A> + Clone + Send + 'static,
{
    type Decided = A;
    type Answer = A;

    fn terms(&self) -> CommandTerms<'_> {
        self.terms
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<A>> {
        let (answer, events) = (self.decide)(ctx, live)?;
        Ok(Decision::Granted(answer, events))
    }

    fn answer(&self, answer: &A, _: &After<'_>) -> Result<A> {
        Ok(answer.clone())
    }
}

/// The state after a command is recorded.
pub(crate) struct After<'a> {
    pub team: &'a str,
    /// State after the command's events.
    pub live: &'a Live,
    pub events: &'a [Event<'static>],
    /// Context of the decision.
    pub ctx: &'a Ctx,
}

impl After<'_> {
    /// Returns the last event; for commands that always record one.
    pub fn last_event(&self) -> Result<Event<'static>> {
        self.events.last().cloned().ok_or_else(unrecorded)
    }
}

/// Returns the failure of a command that should have recorded an event but did not.
pub(crate) fn unrecorded() -> Failure {
    Error::Poisoned("the writer answered without an event".into()).into()
}
