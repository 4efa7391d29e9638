//! The envelope around every answer of the contract.

use super::fault::Fault;
use crate::operation::prelude::*;
use crate::time::milliseconds;

/// The JSON object `{schema_version, timestamp, command, ok, operation, replayed?, data | error}`, on one line.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Envelope<'a> {
    /// Always `"1.0"`.
    pub schema_version: &'static str,
    /// Time at which the operation started: RFC 3339 in UTC, with milliseconds.
    pub timestamp: String,
    /// The command line. Without the operation if the call could not be parsed.
    pub command: String,
    /// True if the operation was carried out.
    pub ok: bool,
    /// The operation; `unknown` if the call could not be parsed.
    pub operation: &'a str,
    /// True if an earlier request with the key recorded the answer. In that case this request did nothing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub replayed: bool,
    /// The answer's data.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    pub data: Option<&'a RawValue>,
    /// The reason for the failure, if there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'a Fault>,
}

const SCHEMA_VERSION: &str = "1.0";
/// Operation name in the answer if the call could not be parsed.
const UNKNOWN: &str = "unknown";

impl<'a> Envelope<'a> {
    /// Returns the envelope of an answer. `program` is the command line without the operation.
    pub fn done(
        program: &str,
        operation: &'a str,
        began: Timestamp,
        data: &'a RawValue,
    ) -> Envelope<'a> {
        Envelope {
            ok: true,
            data: Some(data),
            ..Envelope::empty(program, Some(operation), began)
        }
    }

    /// Returns the envelope of a fault. `operation` is `None` if the call could not be parsed.
    pub fn failed(
        program: &str,
        operation: Option<&'a str>,
        began: Timestamp,
        fault: &'a Fault,
    ) -> Envelope<'a> {
        Envelope {
            error: Some(fault),
            ..Envelope::empty(program, operation, began)
        }
    }

    /// Sets the mark `replayed`, which says that the answer repeats an earlier one.
    #[must_use]
    pub fn replayed(self, replayed: bool) -> Envelope<'a> {
        Envelope { replayed, ..self }
    }

    fn empty(program: &str, operation: Option<&'a str>, began: Timestamp) -> Envelope<'a> {
        Envelope {
            schema_version: SCHEMA_VERSION,
            timestamp: milliseconds(began),
            command: match operation {
                Some(operation) => format!("{program} {operation}"),
                None => program.to_owned(),
            },
            ok: false,
            operation: operation.unwrap_or(UNKNOWN),
            replayed: false,
            data: None,
            error: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noon() -> Timestamp {
        Timestamp::parse("2026-11-21T12:00:00.123987Z").unwrap()
    }

    #[test]
    fn success_and_failure_are_these_lines() {
        let data = RawValue::from_string(r#"{"count":0}"#.into()).unwrap();
        let done = Envelope::done("teamlog api", "list-tasks", noon(), &data);
        assert_eq!(
            serde_json::to_string(&done).unwrap(),
            r#"{"schema_version":"1.0","timestamp":"2026-11-21T12:00:00.123Z","command":"teamlog api list-tasks","ok":true,"operation":"list-tasks","data":{"count":0}}"#
        );
        let again = serde_json::to_string(&done.replayed(true)).unwrap();
        assert!(again.ends_with(r#""operation":"list-tasks","replayed":true,"data":{"count":0}}"#));
        let fault = Fault::new("task_not_found", "task_not_found");
        let failed = Envelope::failed("rcs team api", Some("read-task"), noon(), &fault);
        assert_eq!(
            serde_json::to_string(&failed).unwrap(),
            r#"{"schema_version":"1.0","timestamp":"2026-11-21T12:00:00.123Z","command":"rcs team api read-task","ok":false,"operation":"read-task","error":{"code":"task_not_found","message":"task_not_found"}}"#
        );
        let unread = Envelope::failed("rcs team api", None, noon(), &fault);
        assert_eq!(
            (&*unread.command, unread.operation),
            ("rcs team api", "unknown")
        );
    }
}
