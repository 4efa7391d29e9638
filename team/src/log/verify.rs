//! `verify`: is every byte of the log as it was written, and does an old receipt still hold?

use crate::prelude::*;
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
