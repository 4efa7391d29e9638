//! The reason why an operation has no data, in the form of the envelope.
//!
//! The outer code is the contract's code: `invalid_input`, `operation_failed`, or the code of the refusal. If a more precise
//! code is known, it is in `details.code`.

use super::rules::TEAM;
use crate::failure::{code_of, details_of};
use crate::hint;
use crate::operation::prelude::*;
use crate::projections;

/// The JSON object `{code, message, details?}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fault {
    /// A stable word in snake_case.
    pub code: String,
    /// Message for people.
    pub message: String,
    /// Details for programs: `field`, `hint` and others, and `code` if a more precise code is known.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
}

/// Outer code of a fault for which the contract has no code of its own.
const FAILED: &str = "operation_failed";

impl Fault {
    /// Returns a fault without details.
    pub fn new(code: &str, message: impl Into<String>) -> Fault {
        Fault {
            code: code.to_owned(),
            message: message.into(),
            details: Map::new(),
        }
    }

    /// Adds a detail.
    #[must_use]
    pub fn detail(mut self, name: &str, value: impl Into<Value>) -> Fault {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// Returns the fault of a failed command. `mutates` is true if the command has possibly recorded events.
    pub(super) fn from_failure(failure: &Failure, mutates: bool) -> Fault {
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
            let hint =
                "the request may have been recorded; with the same key it can be repeated safely";
            fault = fault.detail("hint", hint);
        }
        fault.detail("code", code)
    }

    /// Returns the fault of a refusal. The outer code is the refusal's code, unless the contract prescribes a different code.
    pub fn refused(refusal: &Refusal) -> Fault {
        match refusal.code {
            // The contract reports all gates with one code, so only their messages differ.
            Code::ShutdownGateBlocked | Code::ShutdownConfirm | Code::ShutdownRejected => {
                Fault::failed(refusal)
            }
            code => Fault::under(code.as_str(), refusal),
        }
    }

    /// Returns the fault of a refusal that the contract reports with its general failure code.
    pub(super) fn failed(refusal: &Refusal) -> Fault {
        Fault::under(FAILED, refusal).detail("code", refusal.code.as_str())
    }

    /// Returns the fault of an invalid name.
    pub(super) fn misnamed(field: &str, refusal: &Refusal) -> Fault {
        let mut fault = Fault::failed(refusal);
        fault.message = format!("Invalid {field}: {}", fault.message);
        fault
    }

    /// Returns the fault of an answer that cannot be serialized, which is a bug.
    pub(super) fn broken(error: &serde_json::Error) -> Fault {
        Fault::new(FAILED, format!("cannot serialize the answer: {error}"))
    }

    fn under(code: &str, refusal: &Refusal) -> Fault {
        let mut details = refusal.details.clone();
        let mut message = refusal.message.clone();
        if let Some(field) = &refusal.field {
            // In the contract the field for the team has another name.
            let field = match &**field {
                "team" => TEAM,
                field => field,
            };
            let is_rule = |rest: &&str| rest.starts_with("must ") || *rest == "is required";
            let rule = message.strip_prefix("team ").filter(is_rule);
            if let Some(rest) = rule.filter(|_| field == TEAM) {
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
