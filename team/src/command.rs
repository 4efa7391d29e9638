//! A command as data: its context, its terms and its decision.

pub(crate) mod authority;
mod control;
pub mod deadline;

pub use control::{Authenticated, ClaimOrder, Control, Origin};

pub(crate) use authority::{Actor, Authority, CommandTerms};
pub(crate) use control::mismatch;

use crate::prelude::*;
use teamlog_engine::Room;
use teamlog_engine::{Clock, IdSource};

/// Kinds of events that result from another event, or from the passing of time.
const CONSEQUENCES: [&str; 3] = ["task_blocked", "task_unblocked", "task_lease_expired"];

/// The context of a call: everything but the input of the command.
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

/// A command. A command decides on the present state, and answers from the state after its own
/// events.
pub(crate) trait Command: Clone + Send + 'static {
    /// The part of a decision from which the answer is made.
    type Decided: Send + 'static;
    /// The answer. To be stored under an idempotency key, the answer must be serializable.
    type Answer: Send + 'static;

    /// Returns the terms: the callers that may run the command, and the conditions. There is no default, so a forgotten
    /// implementation permits nothing.
    fn terms(&self) -> CommandTerms<'_>;

    /// Returns true if this command's event is only a consequence of another event. Such an event keeps the trace of its own subject, and
    /// has no actor.
    fn is_consequence(&self, event: &NewEvent) -> bool {
        CONSEQUENCES.contains(&&*event.kind)
    }

    /// Decides from input, context and state alone, as a pure function. If this fails, no event is
    /// recorded.
    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<Self::Decided>>;

    /// Returns the answer. Called after the command's events have their seqs and times and are part of the state.
    fn answer(&self, decided: &Self::Decided, after: &After<'_>) -> Result<Self::Answer>;

    /// Returns the maximum size of the events that [`Command::stored_answers`] returns.
    fn room(&self) -> Room {
        Room::default()
    }

    /// Returns events that store answers under further idempotency keys. Only a command that accepts several keys has such events.
    fn stored_answers(&self, _: &Self::Decided, _: &After<'_>) -> Vec<NewEvent> {
        Vec::new()
    }
}

pub(crate) enum Decision<D> {
    /// The command is granted and records these events. The list is empty if nothing changes.
    Granted(D, Vec<NewEvent>),
    /// The command is refused, but records these events.
    Denied(Refusal, Vec<NewEvent>),
}

/// The answer of a command, with the events to record.
pub(crate) type Acted<A> = Result<(A, Vec<NewEvent>)>;

/// Creates a command from a function that returns decision and answer together.
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

/// The state after the events of a command.
pub(crate) struct After<'a> {
    pub team: &'a str,
    /// State after the command's events.
    pub live: &'a Live,
    pub events: &'a [Event<'static>],
    /// Context of the decision.
    pub ctx: &'a Ctx,
}

impl After<'_> {
    /// Returns the command's last event. Fails if the command recorded none.
    pub fn last_event(&self) -> Result<Event<'static>> {
        self.events.last().cloned().ok_or_else(unrecorded)
    }
}

/// Returns the failure of a command that was expected to record an event but recorded none.
pub(crate) fn unrecorded() -> Failure {
    Error::Poisoned("the writer answered without an event".into()).into()
}
