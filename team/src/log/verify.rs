//! `verify`: checks every byte of the log, and compares the log with an older receipt.

use crate::handle::rollback::shown_by_files;
use crate::operation::prelude::*;
pub use teamlog_engine::verify::{Problem, Report as VerifyAnswer, Severity};

impl Team {
    /// Checks every byte of the log. If a receipt is given, also checks that no event under the receipt was changed or cut.
    /// Changes nothing.
    ///
    /// # Errors
    /// I/O errors. Damage is part of the answer.
    pub fn verify(&self, against: Option<&Receipt>) -> Result<VerifyAnswer> {
        let mut report = self.log.verify(against)?;
        self.add_rollback(&mut report);
        Ok(report)
    }

    /// Adds to the report a rollback that only derived files show.
    pub(crate) fn add_rollback(&self, report: &mut VerifyAnswer) {
        let shown = self.log.peek().ok().filter(|_| report.ok);
        let shown = shown.and_then(|reader| shown_by_files(&self.log, &reader).ok()?);
        if let Some(rollback) = shown {
            let (file, seq) = (rollback.witness.clone(), rollback.known_seq);
            report.add_rollback(&file, seq, self.log.rolled_back(rollback).to_string());
        }
    }
}
