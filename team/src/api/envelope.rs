//! The envelope around every answer of the contract.

use super::fault::Fault;
use serde::Serialize;
use serde_json::value::RawValue;

/// `{schema_version, timestamp, command, ok, operation, data | error}`, in a line.
#[derive(Debug, Serialize)]
pub struct Envelope<'a> {
    /// Always `"1.0"`.
    pub schema_version: &'static str,
    /// When the operation began: RFC 3339 in UTC, with milliseconds.
    pub timestamp: String,
    /// What was called.
    pub command: String,
    /// Whether it was done.
    pub ok: bool,
    /// The operation; `unknown` where the call itself could not be read.
    pub operation: &'a str,
    /// What it answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<&'a RawValue>,
    /// Why it has no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'a Fault>,
}
