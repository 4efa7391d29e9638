//! The definition of an operation: its record, in the file that carries it out.

pub(crate) mod json_text;
pub(crate) mod prelude;
pub(crate) mod record;
mod rules;

pub use rules::Rules;

use crate::handle::team::Team;
use crate::prelude::*;
use crate::projections::agent_token::event::AgentScope;
use serde::de::DeserializeOwned;

/// The effect of an operation on the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It only reads.
    Reads,
    /// It records events.
    Records,
    /// It only reads, and waits for something to happen.
    Waits,
}

/// An operation as a type: its fields are the input beside `team_name` and what every operation takes. It is written by
/// `operation!`.
pub trait Op: DeserializeOwned + JsonSchema + 'static {
    /// The answer's data.
    type Data: Serialize + JsonSchema;
    /// The name, in kebab case.
    const NAME: &'static str;
    /// One line of documentation, without a full stop.
    const DOC: &'static str;
    /// Its effect on the log.
    const EFFECT: Effect;
    /// The codes with which it refuses, beside those of every operation.
    const REFUSALS: &'static [Code] = &[];
    /// How far the token of an agent has to let it.
    const SCOPE: AgentScope = match Self::EFFECT {
        Effect::Records => AgentScope::Act,
        Effect::Reads | Effect::Waits => AgentScope::Read,
    };
    /// How its input is read where that differs from the others.
    const RULES: Rules = Rules::COMMON;
    /// Whether an unknown worker is answered with empty data and a warning; so is an unknown team if the operation only reads.
    const ANSWERS_EMPTY: bool = false;

    /// Carries it out.
    fn run(self, team: &mut Team) -> Result<Self::Data>;

    /// The answer where there is no such team.
    fn without_team(&self, missing: Refusal) -> Result<Self::Data> {
        Err(missing.into())
    }
}
