//! Why a call has no answer, as it is answered.

use super::codes;
use crate::reply::Reply;
use serde::Serialize;
use serde_json::{Map, Value};
use teamlog_team::api::Fault;
use teamlog_team::failure::{code_of, details_of};
use teamlog_team::{Failure, Refusal};

/// A code, a sentence, and more for machines.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    code: String,
    message: String,
    details: Map<String, Value>,
}

/// `{error: {code, message, details?}}`.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct ErrorBody<'a> {
    /// What went wrong
    error: ErrorShape<'a>,
}

/// `{code, message, details?}`.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "Error")]
struct ErrorShape<'a> {
    /// A stable word in snake_case
    code: &'a str,
    /// For people
    message: &'a str,
    /// More for machines, by name: `field`, `hint`, and what the rule looked at
    #[serde(skip_serializing_if = "Map::is_empty")]
    details: &'a Map<String, Value>,
}

/// What this surface calls the fields that commands name in their refusals.
const FIELDS: [(&str, &str); 15] = [
    ("agent", "agentId"),
    ("blocked_by", "deps"),
    ("expected_version", "expectedVersion"),
    ("input_tokens", "inputTokens"),
    ("key", "Idempotency-Key"),
    ("lease_ms", "ttlMs"),
    ("output_tokens", "outputTokens"),
    ("session_id", "sessionId"),
    ("subject", "title"),
    ("task_id", "taskId"),
    ("team", "teamId"),
    ("thread_id", "threadId"),
    ("trace_id", "traceId"),
    ("worker", "agentId"),
    ("stale_minutes", "staleMinutes"),
];

impl Problem {
    /// A problem without details.
    pub fn new(code: &str, message: impl Into<String>) -> Problem {
        Problem {
            code: code.to_owned(),
            message: message.into(),
            details: Map::new(),
        }
    }

    /// `invalid_input` for a field.
    pub fn invalid(field: &str, message: impl Into<String>) -> Problem {
        Problem::new("invalid_input", message).detail("field", field)
    }

    /// The same with one more detail.
    #[must_use]
    pub fn detail(mut self, name: &str, value: impl Into<Value>) -> Problem {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// The status that it is answered with.
    pub fn status(&self) -> u16 {
        codes::of(&self.code).status
    }

    /// The code.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// The answer.
    pub fn into_reply(self) -> Reply {
        let row = codes::of(&self.code);
        let error = ErrorShape {
            code: &self.code,
            message: &self.message,
            details: &self.details,
        };
        let reply = Reply::json(row.status, &ErrorBody { error });
        match row.retry_after {
            Some(seconds) => reply.header("Retry-After", seconds.to_string()),
            None => reply,
        }
    }

    /// The same as a fault of the operations' envelope.
    pub fn into_fault(self) -> Fault {
        Fault {
            code: self.code,
            message: self.message,
            details: self.details,
        }
    }

    fn refused(refusal: &Refusal) -> Problem {
        let mut problem = Problem::new(refusal.code.as_str(), refusal.message.clone());
        problem.details.clone_from(&refusal.details);
        if let Some(field) = &refusal.field {
            let own = FIELDS.iter().find(|(name, _)| name == field);
            let own = own.map_or(field.as_str(), |(_, own)| *own);
            if let Some(rest) = problem.message.strip_prefix(&**field)
                && rest.starts_with(' ')
            {
                problem.message = format!("{own}{rest}");
            }
            problem = problem.detail("field", own);
        }
        match &refusal.hint {
            Some(hint) => problem.detail("hint", hint.as_str()),
            None => problem,
        }
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Problem {
        if let Some(refusal) = failure.refusal() {
            return Problem::refused(refusal);
        }
        match failure.engine() {
            Some(error) => Problem {
                code: code_of(error).to_owned(),
                message: error.to_string(),
                details: details_of(error),
            },
            None => Problem::new("undecodable", failure.to_string()),
        }
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Problem {
        Problem::refused(&refusal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use teamlog_team::Code;

    #[test]
    fn a_refusal_keeps_its_code_and_gets_the_names_of_this_surface() {
        let refusal = Refusal::new(Code::WorkerNotFound, "worker must be a member")
            .field("worker")
            .hint("add it");
        let reply = Problem::from(refusal).into_reply();
        assert_eq!(reply.status, 404);
        assert_eq!(
            String::from_utf8(reply.body).unwrap(),
            "{\"error\":{\"code\":\"worker_not_found\",\"message\":\"agentId must be a member\",\"details\":{\"field\":\"agentId\",\"hint\":\"add it\"}}}\n"
        );
    }

    #[test]
    fn what_passes_by_itself_says_when_to_come_again() {
        let reply = Problem::new("busy", "come again").into_reply();
        assert_eq!(reply.status, 503);
        assert_eq!(reply.headers, [("Retry-After", "1".to_owned())]);
    }
}
