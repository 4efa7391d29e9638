//! `verify-last`, `verify-start`: the result of the last verification of the log.

use super::*;
use crate::log::verify::{Problem, VerifyAnswer};

/// Name of the file with the last result.
const FILE: &str = "verify.json";

operation! {
    /// Read the result of the last verification of the whole log, and the progress of a running verification
    "verify-last": Reads(VerifyLast {}) -> Verification = Team::verify_last
}

operation! {
    /// Verify the whole log: in the background of a daemon, else before the answer
    "verify-start": Reads(VerifyStart {}) -> Verification = Team::verify_start
}

operation! {
    /// Verify the whole log and answer with the result; `verify-start` does not wait for the result
    "verify": Reads(Verify {}) -> VerifyAnswer = |team, _| team.verify_noting(&mut |_, _| {})
}

/// The last verification.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verification {
    /// The team
    pub team: String,
    /// State of the verification
    pub state: CheckState,
    /// Progress of the running verification
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<CheckProgress>,
    /// Time when the running verification was requested; if none is running, the start of the last verification
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// End of the last verification
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
    /// True if the last verification found no error
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ok: Option<bool>,
    /// Number of valid events in the log
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<u64>,
    /// Problems, warnings included
    pub problems: Vec<Problem>,
    /// Reason why the verification could not be made
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl Team {
    /// Returns the result of the last verification. Reads only a small file.
    pub fn verify_last(&mut self, _: VerifyLast) -> Result<Verification> {
        let mut last: Verification = read(&self.log, FILE).unwrap_or_default();
        last.team = self.name().to_owned();
        if let Some(running) = self.running_check(Check::Verify) {
            last.state = CheckState::Running;
            last.progress = Some(running.progress);
            last.started_at = Some(running.started_at);
        }
        Ok(last)
    }

    /// Starts a verification of the whole log. The verification runs in the background if this process supports that. Otherwise this
    /// function waits for the end of the verification.
    pub fn verify_start(&mut self, _: VerifyStart) -> Result<Verification> {
        if !self.begin_check(Check::Verify) {
            self.verify_noting(&mut |_, _| {})?;
        }
        self.verify_last(VerifyLast {})
    }

    /// Verifies the whole log, and stores the result for `verify-last`. Calls `progress` with `(bytes done, bytes in all)`.
    ///
    /// # Errors
    /// I/O errors. Damage is part of the answer.
    pub fn verify_noting(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<VerifyAnswer> {
        let began = self.options.clock.now();
        let mut verified = self.log.verify_telling(None, progress);
        if let Ok(report) = &mut verified {
            self.add_rollback(report);
        }
        let ended = Verification {
            team: self.name().to_owned(),
            state: CheckState::Done,
            started_at: Some(began),
            finished_at: Some(self.options.clock.now()),
            ..Verification::default()
        };
        let ended = match &verified {
            Ok(report) => Verification {
                ok: Some(report.ok),
                events: Some(report.events),
                problems: report.problems.clone(),
                ..ended
            },
            Err(error) => Verification {
                failure: Some(error.to_string()),
                ..ended
            },
        };
        write(&self.log, FILE, &ended);
        Ok(verified?)
    }
}
