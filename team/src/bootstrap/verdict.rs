//! What is decided about a report. A refused one records nothing; one that violates the contract is recorded all the same.

use super::*;

/// What is recorded of a report, and what is to be said of it.
#[derive(Debug, Clone, Default)]
pub struct Accepted {
    /// What is recorded; nothing, where all is known.
    pub acts: Vec<BootstrapAct>,
    /// For people.
    pub warnings: Vec<String>,
    /// What stands against it, where it violates the contract, or there is no way to do it.
    pub against: Option<Against>,
}

/// What stands against a report that is recorded all the same.
#[derive(Debug, Clone)]
pub struct Against {
    pub code: Code,
    /// Where the run falls back to, if it does.
    pub rolled_back_to: Option<State>,
    /// For people.
    pub why: String,
}

/// What a guard says.
pub type Ruled = Result<Accepted, Refusal>;

impl Accepted {
    pub fn one(act: BootstrapAct) -> Accepted {
        Accepted {
            acts: vec![act],
            ..Accepted::default()
        }
    }
    /// Nothing is recorded, because it is known already.
    pub fn known(what: &str) -> Accepted {
        Accepted::default().warned(Some(what))
    }
    /// The same with a word to people.
    #[must_use]
    pub fn warned(mut self, warning: Option<&str>) -> Accepted {
        self.warnings.extend(warning.map(str::to_owned));
        self
    }
    /// The same although something stands against it.
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

/// A field breaks a rule that has a code of its own.
pub fn broken(code: Code, field: &str, rule: &str) -> Refusal {
    let field = format!("data.{field}");
    Refusal::new(code, format!("{field} {rule}")).field(field)
}

/// The event is not legal here.
pub fn illegal(run: &Run, event: &str, why: &str) -> Refusal {
    let message = format!("{event} is not legal in {}: {why}", run.state.name());
    Refusal::new(Code::IllegalEvent, message).field("event")
}
