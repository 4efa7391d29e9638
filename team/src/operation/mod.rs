//! Definition of an operation. Each operation has a record in the file with its code.

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
    /// Records no event. An operation with the scope `act` changes files of this host beside the log.
    Reads,
    /// Records events.
    Records,
    /// Like `Reads`, after waiting for an event.
    Waits,
}

/// An operation as a type. The fields of the type are the operation's own input, without `team_name` and the other common fields.
/// The macro `operation!` implements this trait.
pub trait Op: DeserializeOwned + JsonSchema + 'static {
    /// Type of the answer's data. A client reads every answer into this type.
    type Data: Serialize + DeserializeOwned + JsonSchema;
    /// Name in kebab case.
    const NAME: &'static str;
    /// One line of documentation, without a full stop.
    const DOC: &'static str;
    /// Effect on the log.
    const EFFECT: Effect;
    /// Refusal codes of this operation. The codes that every operation has are not listed here.
    const REFUSALS: &'static [Code] = &[];
    /// Scope that an agent token needs for the operation.
    const SCOPE: AgentScope = match Self::EFFECT {
        Effect::Records => AgentScope::Act,
        Effect::Reads | Effect::Waits => AgentScope::Read,
    };
    /// Rules for reading the input.
    const RULES: Rules = Rules::COMMON;
    /// True if the operation answers an unknown worker with empty data and a warning. An operation that only reads also answers an
    /// unknown team in this way.
    const ANSWERS_EMPTY: bool = false;

    /// Carries out the operation.
    fn run(self, team: &mut Team) -> Result<Self::Data>;

    /// Returns the answer for a team that does not exist.
    fn without_team(&self, missing: Refusal) -> Result<Self::Data> {
        Err(missing.into())
    }
}
