//! Decisions on reports. A refused report records nothing. A report with a breach of the contract is recorded together with
//! the breach.

use super::*;

/// The acts that an accepted report records, with remarks for the reporter.
#[derive(Debug, Clone, Default)]
pub struct Accepted {
    /// Acts to record. The list is empty if the report only repeats an earlier report.
    pub acts: Vec<BootstrapAct>,
    /// Warnings, for people.
    pub warnings: Vec<String>,
    /// The breach or the obstacle in the report, if any.
    pub against: Option<Against>,
}

/// A breach of the contract, or an obstacle. Either is recorded together with the report.
#[derive(Debug, Clone)]
pub struct Against {
    pub code: Code,
    /// State to which the run is rolled back; `None` without a rollback.
    pub rolled_back_to: Option<State>,
    /// Reason, for people.
    pub why: String,
}

/// Decision of a rule on a report.
pub type Ruled = Result<Accepted, Refusal>;

impl Accepted {
    pub fn one(act: BootstrapAct) -> Accepted {
        Accepted {
            acts: vec![act],
            ..Accepted::default()
        }
    }
    /// Accepts a report that only repeats an earlier report. Records nothing.
    pub fn known(what: &str) -> Accepted {
        Accepted::default().warned(Some(what))
    }
    /// Adds a warning.
    #[must_use]
    pub fn warned(mut self, warning: Option<&str>) -> Accepted {
        self.warnings.extend(warning.map(str::to_owned));
        self
    }
    /// Marks an accepted report as a breach of the contract, or as blocked.
    #[must_use]
    pub fn despite(self, code: Code, rolled_back_to: Option<State>, why: String) -> Accepted {
        let against = Against {
            code,
            rolled_back_to,
            why,
        };
        Accepted {
            against: Some(against),
            ..self
        }
    }
}

/// Returns the refusal for a wrong field, with a specific code.
pub fn broken(code: Code, field: &str, rule: &str) -> Refusal {
    let field = format!("data.{field}");
    Refusal::new(code, format!("{field} {rule}")).field(field)
}

/// Returns the refusal for an event that is not legal in the run's state.
pub fn illegal(run: &Run, event: &str, why: &str) -> Refusal {
    let message = format!("{event} is not legal in {}: {why}", run.state.name());
    Refusal::new(Code::IllegalEvent, message).field("event")
}
