//! Decisions on reports. A refused report records nothing; a report that violates the contract is recorded with its
//! violation.

use super::*;

/// The acts that a report records, and the words for the reporter.
#[derive(Debug, Clone, Default)]
pub struct Accepted {
    /// Acts to record; empty if the report is already known.
    pub acts: Vec<BootstrapAct>,
    /// Warnings, for people.
    pub warnings: Vec<String>,
    /// The violation of the contract, or the obstacle, if there is one.
    pub against: Option<Against>,
}

/// A violation or obstacle that is recorded together with the report.
#[derive(Debug, Clone)]
pub struct Against {
    pub code: Code,
    /// State to which the run is rolled back, if it is.
    pub rolled_back_to: Option<State>,
    /// Reason, for people.
    pub why: String,
}

/// Decision of a rule.
pub type Ruled = Result<Accepted, Refusal>;

impl Accepted {
    pub fn one(act: BootstrapAct) -> Accepted {
        Accepted {
            acts: vec![act],
            ..Accepted::default()
        }
    }
    /// Accepts a report that is already known, and records nothing.
    pub fn known(what: &str) -> Accepted {
        Accepted::default().warned(Some(what))
    }
    /// Adds a warning.
    #[must_use]
    pub fn warned(mut self, warning: Option<&str>) -> Accepted {
        self.warnings.extend(warning.map(str::to_owned));
        self
    }
    /// Marks the report as a violation of the contract, or as blocked.
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

/// Refuses a field that breaks a rule with a code of its own.
pub fn broken(code: Code, field: &str, rule: &str) -> Refusal {
    let field = format!("data.{field}");
    Refusal::new(code, format!("{field} {rule}")).field(field)
}

/// Refuses an event that is not legal in the run's state.
pub fn illegal(run: &Run, event: &str, why: &str) -> Refusal {
    let message = format!("{event} is not legal in {}: {why}", run.state.name());
    Refusal::new(Code::IllegalEvent, message).field("event")
}
