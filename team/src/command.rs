//! A command as data: what comes with a call, what a command states of itself, and what it decides.

pub(crate) mod authority;
mod control;
pub mod deadline;

pub use control::{Authenticated, ClaimOrder, Control, Origin};

pub(crate) use authority::{Actor, Authority, CommandTerms};
pub(crate) use control::mismatch;

use crate::prelude::*;
use teamlog_engine::Room;
use teamlog_engine::{Clock, IdSource};

/// Kinds that follow from what any command, or time, did.
const CONSEQUENCES: [&str; 3] = ["task_blocked", "task_unblocked", "task_lease_expired"];

/// The context of a call, beside the input of its command.
#[derive(Debug, Clone)]
pub(crate) struct Ctx {
    /// The time of the decision.
    pub now: Timestamp,
    /// Measures how long something takes.
    pub clock: Arc<dyn Clock>,
    /// Random bits, for tokens.
    pub ids: Arc<dyn IdSource>,
    /// The caller, and what it said beside the input.
    pub control: Control,
}

impl Ctx {
    /// Returns the agent that acts: the one that the input names, else the one that the caller proved to be.
    pub fn agent<'a>(&'a self, named: Option<&'a str>) -> Option<&'a str> {
        named.or(self.control.authenticated.as_deref())
    }
}

/// A command: decides on the state, and answers from the state behind its own events.
pub(crate) trait Command: Clone + Send + 'static {
    /// The part of the decision that the answer needs.
    type Decided: Send + 'static;
    /// The answer; one that can be stored and read again may be given again under a key.
    type Answer: Send + 'static;

    /// Which agents may have it carried out, and when. Without a default: nothing is permitted by omission.
    fn terms(&self) -> CommandTerms<'_>;

    /// Whether an event of its own only follows from what it does: it keeps the story of what it is about, and is nobody's
    /// doing.
    fn is_consequence(&self, event: &NewEvent) -> bool {
        CONSEQUENCES.contains(&&*event.kind)
    }

    /// Decides. Pure: input, context and state. An error records nothing.
    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<Self::Decided>>;

    /// The answer, once the events are stamped and folded.
    fn answer(&self, decided: &Self::Decided, after: &After<'_>) -> Result<Self::Answer>;

    /// Returns the room that its events of [`Command::stored_answers`] need at most.
    fn room(&self) -> Room {
        Room::default()
    }

    /// Returns events that store answers under keys of its own, for a command that takes several.
    fn stored_answers(&self, _: &Self::Decided, _: &After<'_>) -> Vec<NewEvent> {
        Vec::new()
    }
}

pub(crate) enum Decision<D> {
    /// It happens; these events record it (none, where nothing changes).
    Granted(D, Vec<NewEvent>),
    /// It does not, and these facts are recorded all the same.
    Denied(Refusal, Vec<NewEvent>),
}

/// The answer of a command, and the events that it records.
pub(crate) type Acted<A> = Result<(A, Vec<NewEvent>)>;

/// Returns a command that answers what it decided.
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

/// How things are once a command is recorded.
pub(crate) struct After<'a> {
    pub team: &'a str,
    /// The state behind its events.
    pub live: &'a Live,
    pub events: &'a [Event<'static>],
    /// The context in which it was decided.
    pub ctx: &'a Ctx,
}

impl After<'_> {
    /// The last event, of a command that always records one.
    pub fn last_event(&self) -> Result<Event<'static>> {
        self.events.last().cloned().ok_or_else(unrecorded)
    }
}

/// A command that always records an event recorded none.
pub(crate) fn unrecorded() -> Failure {
    Error::Poisoned("the writer answered without an event".into()).into()
}
