//! `doctor-last`, `doctor-start`: the result of the last `doctor check` of a team.

use super::*;
use crate::doctor::{DoctorAnswer, DoctorCheck, Health, SAMPLE, TrackedByGit};

/// Name of the file with the last result.
const FILE: &str = "doctor.json";

operation! {
    /// Read the result of the last `doctor check` of the team
    "doctor-last": Reads(DoctorLast {}) -> Examination = Team::doctor_last
}

operation! {
    /// Run `doctor check` on the team: in the background of a daemon, else before the answer
    "doctor-start": Reads(DoctorStart {}) -> Examination = Team::doctor_start
}

/// The last `doctor check` of a team.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Examination {
    /// The team
    pub team: String,
    /// State of the check
    pub state: CheckState,
    /// Time when the running check was requested; if no check is running, the start of the last check
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// End of the last check
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
    /// True if the last check found no fault
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub healthy: Option<bool>,
    /// Results, always in the same order
    pub checks: Vec<Examined>,
    /// Reason why the check could not be made
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// Result of one of the checks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Examined {
    /// Stable name of the check
    pub name: String,
    /// Status of the result
    pub status: Health,
    /// Result in one line, for people
    pub message: String,
    /// Command that repairs the fault
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Team {
    /// Returns the result of the last check. Reads only a small file.
    pub fn doctor_last(&mut self, _: DoctorLast) -> Result<Examination> {
        let mut last: Examination = read(&self.log, FILE).unwrap_or_default();
        last.team = self.name().to_owned();
        if let Some(running) = self.running_check(Check::Doctor) {
            last.state = CheckState::Running;
            last.started_at = Some(running.started_at);
        }
        Ok(last)
    }

    /// Starts a check of everything. The check runs in the background if this process supports that. Otherwise this function waits for the
    /// end of the check.
    pub fn doctor_start(&mut self, _: DoctorStart) -> Result<Examination> {
        if !self.begin_check(Check::Doctor) {
            let check = DoctorCheck::for_team(self.name());
            Root::of_team(self).doctor_noting(check, &mut |_, _| {})?;
        }
        self.doctor_last(DoctorLast {})
    }
}

impl DoctorCheck {
    /// Returns the options of `doctor check` without arguments.
    pub fn for_team(team: &str) -> DoctorCheck {
        DoctorCheck {
            team: team.to_owned(),
            sample_size: SAMPLE,
            deep: false,
            program: "teamlog".to_owned(),
            backups: Vec::new(),
            data_root: PathBuf::from("."),
            tracked: TrackedByGit::Unknown,
            daemon: None,
        }
    }
}

impl Root {
    /// Like [`Root::doctor_check`], but also stores the result for `doctor-last`.
    ///
    /// # Errors
    /// Errors of [`Root::doctor_check`].
    pub fn doctor_noting(
        &self,
        check: DoctorCheck,
        progress: &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<DoctorAnswer> {
        let (team, began) = (check.team.clone(), self.options().clock.now());
        let checked = self.doctor_check(check, progress);
        // If the log is unreadable, there is no place to store the result.
        let Ok(handle) = self.team(&team) else {
            return checked;
        };
        let ended = Examination {
            team,
            state: CheckState::Done,
            started_at: Some(began),
            finished_at: Some(self.options().clock.now()),
            ..Examination::default()
        };
        let ended = match &checked {
            Ok(answer) => Examination {
                healthy: Some(answer.overall_status != Health::Unhealthy),
                checks: answer.checks.iter().map(examined).collect(),
                ..ended
            },
            Err(failure) => Examination {
                failure: Some(failure.to_string()),
                ..ended
            },
        };
        write(handle.log(), FILE, &ended);
        checked
    }
}

fn examined(check: &crate::doctor::Check) -> Examined {
    Examined {
        name: check.name.to_owned(),
        status: check.status,
        message: check.summary.clone(),
        hint: check.recommendations.first().cloned(),
    }
}
