//! Why an operation has no data, as the envelope shows it.
//!
//! The code outside is the one that the contract has for such a fault: `invalid_input`, `operation_failed`, or that of
//! the rule that refused. Where it says less than is known, the precise one is `details.code`.

use super::rules::TEAM;
use crate::failure::{code_of, details_of};
use crate::hint;
use crate::operation::prelude::*;
use crate::projections;

/// `{code, message, details?}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fault {
    /// A stable word in snake_case.
    pub code: String,
    /// For people.
    pub message: String,
    /// More for machines, by name: `code` where it is more precise than the one outside, `field`, `hint` …
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
}

/// What could not be done, beneath every rule.
const FAILED: &str = "operation_failed";

impl Fault {
    /// A fault without details.
    pub fn new(code: &str, message: impl Into<String>) -> Fault {
        Fault {
            code: code.to_owned(),
            message: message.into(),
            details: Map::new(),
        }
    }

    /// The same with one more detail.
    #[must_use]
    pub fn detail(mut self, name: &str, value: impl Into<Value>) -> Fault {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// Of a command that has no answer. `mutates`: whether it might have recorded something.
    pub(super) fn of(failure: &Failure, mutates: bool) -> Fault {
        let error = match failure {
            Failure::Refused(refusal) => return Fault::refused(refusal),
            Failure::Failed(error) => error,
        };
        let mut fault = Fault::new(FAILED, error.to_string());
        let code = match error {
            projections::Error::Engine(error) => {
                fault.details = details_of(error);
                code_of(error)
            }
            _ => "undecodable",
        };
        let unknown = mutates && matches!(code, "io" | "no_space" | "not_permitted" | "poisoned");
        if unknown {
            let hint = "whether it was recorded is unknown; the same request under the same key is carried out once";
            fault = fault.detail("hint", hint);
        }
        fault.detail("code", code)
    }

    /// Of a refusal: its code is the one outside, unless the contract has another.
    pub fn refused(refusal: &Refusal) -> Fault {
        match refusal.code {
            // A gate holds the whole team back; to the contract that is a failure with a telling message.
            Code::ShutdownGateBlocked | Code::ShutdownConfirm | Code::ShutdownRejected => {
                Fault::failed(refusal)
            }
            code => Fault::under(code.as_str(), refusal),
        }
    }

    /// Of a refusal that is a failure to the contract.
    pub(super) fn failed(refusal: &Refusal) -> Fault {
        Fault::under(FAILED, refusal).detail("code", refusal.code.as_str())
    }

    /// Of a name that breaks its rule.
    pub(super) fn misnamed(field: &str, refusal: &Refusal) -> Fault {
        let mut fault = Fault::failed(refusal);
        fault.message = format!("Invalid {field}: {}", fault.message);
        fault
    }

    /// An answer that does not serialise, which is our own doing.
    pub(super) fn broken(error: &serde_json::Error) -> Fault {
        Fault::new(FAILED, format!("the answer did not serialise: {error}"))
    }

    fn under(code: &str, refusal: &Refusal) -> Fault {
        let mut details = refusal.details.clone();
        let mut message = refusal.message.clone();
        if let Some(field) = &refusal.field {
            // Here the team has the name of its field.
            let field = match &**field {
                "team" => TEAM,
                field => field,
            };
            if let Some(rest) = message.strip_prefix("team ").filter(|_| field == TEAM) {
                message = format!("{TEAM} {rest}");
            }
            details.insert("field".to_owned(), field.into());
        }
        if let Some(hint) = hint::for_operations(refusal) {
            details.insert("hint".to_owned(), hint.into());
        }
        Fault {
            code: code.to_owned(),
            message,
            details,
        }
    }
}
