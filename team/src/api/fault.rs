//! Why an operation has no data, as the envelope shows it.

use crate::failure::Failure;
use crate::refusal::{Code, Refusal};
use serde::Serialize;
use serde_json::{Map, Value};

/// `{code, message, details?}`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fault {
    /// A stable word in snake_case.
    pub code: String,
    /// For people.
    pub message: String,
    /// More for machines, by name.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
}

impl Fault {
    /// A fault without details.
    pub fn new(code: &str, message: impl Into<String>) -> Fault {
        Fault {
            code: code.to_owned(),
            message: message.into(),
            details: Map::new(),
        }
    }

    pub(super) fn of(failure: &Failure) -> Fault {
        match failure {
            Failure::Refused(refusal) => Fault::refused(refusal),
            Failure::Failed(error) => Fault::new("operation_failed", error.to_string()),
        }
    }

    pub(super) fn refused(refusal: &Refusal) -> Fault {
        let mut details = refusal.details.clone();
        if let Some(field) = &refusal.field {
            details.insert("field".to_owned(), field.clone().into());
        }
        if let Some(hint) = &refusal.hint {
            details.insert("hint".to_owned(), hint.clone().into());
        }
        Fault {
            code: refusal.code.as_str().to_owned(),
            message: refusal.message.clone(),
            details,
        }
    }

    /// An answer that does not serialise, which is our own doing.
    pub(super) fn broken(error: &serde_json::Error) -> Fault {
        Fault::new(
            "operation_failed",
            format!("the answer did not serialise: {error}"),
        )
    }

    pub(super) fn invalid(message: impl Into<String>, field: &str) -> Fault {
        Fault::refused(&Refusal::new(Code::InvalidInput, message).field(field))
    }
}
