//! `verify`: is every byte of the log as it was written, and does an old receipt still hold?

use crate::failure::Result;
use crate::refusal::Refusal;
use crate::team::Team;
use serde_json::{Map, Value};
use teamlog_engine::Receipt;
pub use teamlog_engine::verify::{Problem, Report as VerifyAnswer, Severity};

impl Team {
    /// Checks every byte of the log, and (if given) that nothing a receipt covers was changed or cut. Changes nothing.
    ///
    /// # Errors
    /// I/O. Damage is an answer, not an error.
    pub fn verify(&self, against: Option<&Receipt>) -> Result<VerifyAnswer> {
        Ok(self.log.verify(against)?)
    }
}

/// Reads a receipt as `head --json` prints it; the team's name may be left out.
///
/// # Errors
/// `invalid_input`.
pub fn read_receipt(text: &str) -> Result<Receipt, Refusal> {
    let read = || {
        let mut fields: Map<String, Value> = serde_json::from_str(text)?;
        fields.remove("team");
        serde_json::from_value(Value::Object(fields))
    };
    read().map_err(|error: serde_json::Error| {
        let rule = format!("must be a receipt as head --json prints it ({error})");
        Refusal::invalid("receipt", text.trim(), &rule)
    })
}
