//! One execution of a command, of whichever type: what is done with it is the same for every command, and is built once.

use super::command::{After, Command, Decision, unrecorded};
use crate::prelude::*;
use std::any::Any;
use teamlog_engine::writer::Room;

/// What is the same for every command of a type, and who does it.
pub(super) struct Terms<'a> {
    /// See [`Command::WHEN_CLOSED`].
    pub when_closed: bool,
    /// See [`Command::GRANTS`].
    pub grants: bool,
    /// See [`Command::LED`].
    pub led: bool,
    /// See [`Command::names_actor`].
    pub names_actor: bool,
    /// See [`Command::acts_for`].
    pub acts_for: Option<&'a str>,
    /// See [`Command::room`].
    pub room: Room,
}

/// An execution whose type is of no concern.
pub(super) trait AnyExecution: Any + Send {
    /// Another one of the same command.
    fn again(&self) -> Box<dyn AnyExecution>;
    fn terms(&self) -> Terms<'_>;
    fn admits(&self, live: &Live, actor: Option<&str>, now: Timestamp) -> Result<()>;
    fn is_consequence(&self, event: &NewEvent) -> bool;
    /// Decides, and keeps what was decided.
    fn decide(&mut self, live: &Live, now: Timestamp) -> Result<Decision<()>>;
    /// Answers what was decided, and keeps the answer.
    fn answer(&mut self, after: &After<'_>) -> Result<()>;
    /// The answer as it is stored under a key.
    fn text(&self) -> Option<String>;
    /// See [`Command::stored_answers`].
    fn stored_answers(&self, after: &After<'_>) -> Vec<NewEvent>;
}

/// Writes an answer down, to be stored under a key.
pub(super) type Text<A> = fn(&A) -> Option<String>;

pub(super) struct Execution<C: Command> {
    command: C,
    decided: Option<C::Decided>,
    answer: Option<C::Answer>,
    text: Text<C::Answer>,
}

impl<C: Command> Execution<C> {
    pub fn new(command: C, text: Text<C::Answer>) -> Execution<C> {
        Execution {
            command,
            decided: None,
            answer: None,
            text,
        }
    }

    /// The answer of an execution of this type.
    pub fn answer_of(execution: Box<dyn AnyExecution>) -> Result<C::Answer> {
        let execution = (execution as Box<dyn Any>).downcast::<Execution<C>>();
        let answer = execution.ok().and_then(|execution| execution.answer);
        answer.ok_or_else(unrecorded)
    }
}

impl<C: Command> AnyExecution for Execution<C> {
    fn again(&self) -> Box<dyn AnyExecution> {
        Box::new(Execution::new(self.command.clone(), self.text))
    }

    fn terms(&self) -> Terms<'_> {
        Terms {
            when_closed: C::WHEN_CLOSED,
            grants: C::GRANTS,
            led: C::LED,
            names_actor: self.command.names_actor(),
            acts_for: self.command.acts_for(),
            room: self.command.room(),
        }
    }

    fn admits(&self, live: &Live, actor: Option<&str>, now: Timestamp) -> Result<()> {
        self.command.admits(live, actor, now)
    }

    fn is_consequence(&self, event: &NewEvent) -> bool {
        self.command.is_consequence(event)
    }

    fn decide(&mut self, live: &Live, now: Timestamp) -> Result<Decision<()>> {
        Ok(match self.command.decide(live, now)? {
            Decision::Granted(decided, events) => {
                self.decided = Some(decided);
                Decision::Granted((), events)
            }
            Decision::Denied(refusal, events) => Decision::Denied(refusal, events),
        })
    }

    fn answer(&mut self, after: &After<'_>) -> Result<()> {
        let decided = self.decided.as_ref().ok_or_else(unrecorded)?;
        self.answer = Some(self.command.answer(decided, after)?);
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
