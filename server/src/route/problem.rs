//! Errors of calls, in the form of the answer.

use super::{codes, names};
use crate::reply::Reply;
use serde::Serialize;
use serde_json::{Map, Value};
use teamlog_team::api::shape::Shape;
use teamlog_team::failure::{code_of, details_of};
use teamlog_team::{Failure, Refusal, hint};

/// `{code, message, details?}`.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
#[schemars(rename = "Error")]
pub struct Problem {
    /// Stable code in snake_case
    code: String,
    /// Description for people
    message: String,
    /// Details for programs, by name: `field`, `hint`, and others that depend on the code
    #[serde(skip_serializing_if = "Map::is_empty")]
    details: Map<String, Value>,
    /// True if the message uses the field names of commands.
    #[serde(skip)]
    by_command: bool,
}

/// `{error: {code, message, details?}}`.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct ErrorBody<'a> {
    /// The error
    error: &'a Problem,
}

impl Problem {
    /// Makes a problem without details.
    pub fn new(code: &str, message: impl Into<String>) -> Problem {
        Problem {
            code: code.to_owned(),
            message: message.into(),
            details: Map::new(),
            by_command: false,
        }
    }

    /// Makes an `invalid_input` problem for a field.
    pub fn invalid(field: &str, message: impl Into<String>) -> Problem {
        Problem::new("invalid_input", message).detail("field", field)
    }

    /// Adds a detail.
    #[must_use]
    pub fn detail(mut self, name: &str, value: impl Into<Value>) -> Problem {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// Returns the code.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// Builds the reply.
    pub fn into_reply(self) -> Reply {
        codes::row_of(&self.code).reply(&ErrorBody { error: &self })
    }

    /// Replaces the field names of commands in the message by the field names of the route.
    #[must_use]
    pub(super) fn in_terms_of(mut self, shape: &Shape) -> Problem {
        if !self.by_command || shape.open {
            return self;
        }
        let field = match self.details.get("field").and_then(Value::as_str) {
            Some(field) => Some(field.to_owned()),
            // Some messages name their field only in the text.
            None => {
                let first = self.message.split(" must ").next();
                first
                    .filter(|first| names::own_name(first, shape).is_some())
                    .map(str::to_owned)
            }
        };
        self.message = names::in_terms_of(shape, &self.message);
        self.by_command = false;
        match field {
            Some(field) => {
                let own = names::own_name(&field, shape).unwrap_or(field);
                self.detail("field", own)
            }
            None => self,
        }
    }

    fn refused(refusal: &Refusal) -> Problem {
        let mut problem = Problem::new(refusal.code.as_str(), refusal.message.clone());
        problem.by_command = true;
        problem.details.clone_from(&refusal.details);
        if let Some(field) = &refusal.field {
            problem = problem.detail("field", field.as_str());
        }
        match hint::for_operations(refusal) {
            Some(hint) => problem.detail("hint", hint),
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
                by_command: true,
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

    #[derive(schemars::JsonSchema)]
    #[allow(dead_code, reason = "it is there to be described")]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    struct Taken {
        agent_id: String,
        title: String,
        owner: Option<String>,
        budget: Option<Value>,
    }

    fn shape() -> Shape {
        Shape::from_schema(&schemars::schema_for!(Taken))
    }

    #[test]
    fn a_refusal_keeps_its_code_and_gets_the_names_of_this_surface() {
        let refusal = Refusal::new(Code::WorkerNotFound, "worker must be a member")
            .field("worker")
            .hint("add it");
        let reply = Problem::from(refusal).in_terms_of(&shape()).into_reply();
        assert_eq!(reply.status, 404);
        assert_eq!(
            String::from_utf8(reply.body).unwrap(),
            "{\"error\":{\"code\":\"worker_not_found\",\"message\":\"agentId must be a member\",\"details\":{\"field\":\"agentId\",\"hint\":\"add it\"}}}\n"
        );
    }

    #[test]
    fn a_field_has_the_name_that_the_route_has_for_it_wherever_the_rule_names_it() {
        for (message, field, expected, named) in [
            (
                "worker must be the one whom task 1 is assigned to, bob, but is \"worker\"",
                None,
                "agentId must be the one whom task 1 is assigned to, bob, but is \"worker\"",
                Some("agentId"),
            ),
            (
                "soft_limit_tokens must be at most max_tokens, 7, but is 8",
                Some("soft_limit_tokens"),
                "budget.softLimitTokens must be at most budget.maxTokens, 7, but is 8",
                Some("budget.softLimitTokens"),
            ),
            (
                "owner must be a member, but is \"subject\"",
                Some("owner"),
                "owner must be a member, but is \"subject\"",
                Some("owner"),
            ),
            (
                "trace_id must be short",
                Some("trace_id"),
                "X-Trace-Id must be short",
                Some("X-Trace-Id"),
            ),
            (
                "task 1 must be free, but a worker has it",
                None,
                "task 1 must be free, but a worker has it",
                None,
            ),
        ] {
            let mut refusal = Refusal::new(Code::ClaimConflict, message);
            refusal.field = field.map(str::to_owned);
            let problem = Problem::from(refusal).in_terms_of(&shape());
            assert_eq!(problem.message, expected);
            let told = problem.details.get("field").and_then(Value::as_str);
            assert_eq!(told, named, "{message}");
        }
        // Messages that this surface made stay unchanged.
        let own = Problem::invalid("worker", "worker must be a field");
        assert_eq!(own.clone().in_terms_of(&shape()), own);
    }

    #[test]
    fn what_passes_by_itself_says_when_to_come_again() {
        let reply = Problem::new("busy", "come again").into_reply();
        assert_eq!(reply.status, 503);
        assert_eq!(reply.headers, [("Retry-After", "1".to_owned())]);
    }
}
