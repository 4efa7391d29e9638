//! The execution of a command as a trait object. Callers of an execution are then compiled once instead of once per command.

use crate::command::{After, CommandTerms, Ctx, Decision, unrecorded};
use crate::handle::prelude::*;
use std::any::Any;
use teamlog_engine::Room;

/// An execution of a command, independent of the command's type.
pub(super) trait AnyExecution: Any + Send {
    /// Returns a new execution of the same command.
    fn again(&self) -> Box<dyn AnyExecution>;
    /// See [`Command::terms`].
    fn terms(&self) -> CommandTerms<'_>;
    /// See [`Command::room`].
    fn room(&self) -> Room;
    fn is_consequence(&self, event: &NewEvent) -> bool;
    /// Decides, and stores the decision in the execution.
    fn decide(&mut self, ctx: &Ctx, live: &Live) -> Result<Decision<()>>;
    /// Computes the answer, and stores it in the execution.
    fn answer(&mut self, after: &After<'_>) -> Result<()>;
    /// Returns the answer as text, for storing it under a key.
    fn text(&self) -> Option<String>;
    /// See [`Command::stored_answers`].
    fn stored_answers(&self, after: &After<'_>) -> Vec<NewEvent>;
}

/// A function that serializes an answer for storing it under a key.
pub(super) type Text<A> = fn(&A) -> Option<String>;

/// A conversion from a command's answer to the form in which it is sent.
pub(crate) trait Shape<T, A>:
    Fn(&After<'_>, T) -> Result<A> + Clone + Send + 'static
{
}

impl<T, A, F: Fn(&After<'_>, T) -> Result<A> + Clone + Send + 'static> Shape<T, A> for F {}

pub(super) struct Execution<C: Command, A, F> {
    command: C,
    decided: Option<C::Decided>,
    answer: Option<A>,
    shape: F,
    text: Text<A>,
}

impl<C, A, F> Execution<C, A, F>
where
    C: Command,
    A: Send + 'static,
    F: Shape<C::Answer, A>,
{
    pub fn new(command: C, shape: F, text: Text<A>) -> Execution<C, A, F> {
        Execution {
            command,
            decided: None,
            answer: None,
            shape,
            text,
        }
    }

    /// Takes the answer out of an execution of the same type.
    pub fn answer_of(&self, execution: Box<dyn AnyExecution>) -> Result<A> {
        let execution = (execution as Box<dyn Any>).downcast::<Execution<C, A, F>>();
        let answer = execution.ok().and_then(|execution| execution.answer);
        answer.ok_or_else(unrecorded)
    }
}

impl<C, A, F> AnyExecution for Execution<C, A, F>
where
    C: Command,
    A: Send + 'static,
    F: Shape<C::Answer, A>,
{
    fn again(&self) -> Box<dyn AnyExecution> {
        let (command, shape) = (self.command.clone(), self.shape.clone());
        Box::new(Execution::new(command, shape, self.text))
    }

    fn terms(&self) -> CommandTerms<'_> {
        self.command.terms()
    }

    fn room(&self) -> Room {
        self.command.room()
    }

    fn is_consequence(&self, event: &NewEvent) -> bool {
        self.command.is_consequence(event)
    }

    fn decide(&mut self, ctx: &Ctx, live: &Live) -> Result<Decision<()>> {
        Ok(match self.command.decide(ctx, live)? {
            Decision::Granted(decided, events) => {
                self.decided = Some(decided);
                Decision::Granted((), events)
            }
            Decision::Denied(refusal, events) => Decision::Denied(refusal, events),
        })
    }

    fn answer(&mut self, after: &After<'_>) -> Result<()> {
        let decided = self.decided.as_ref().ok_or_else(unrecorded)?;
        let answer = self.command.answer(decided, after)?;
        self.answer = Some((self.shape)(after, answer)?);
        Ok(())
    }

    fn text(&self) -> Option<String> {
        self.answer.as_ref().and_then(self.text)
    }

    fn stored_answers(&self, after: &After<'_>) -> Vec<NewEvent> {
        let stored = |decided| self.command.stored_answers(decided, after);
        self.decided.as_ref().map(stored).unwrap_or_default()
    }
}
