//! What is decided about a report.

use crate::projections::bootstrap::event::BootstrapAct;
use crate::projections::bootstrap::{Run, State};
use crate::refusal::{Code, Refusal};

/// What is decided about a report.
#[derive(Debug, Clone)]
pub enum Verdict {
    /// It happened.
    Accepted(Accepted),
    /// It violates the contract; that is recorded, and the run falls back.
    Breach(Box<Breached>),
    /// There is no way to launch a team; that is recorded, and the run stays.
    Blocked {
        /// What the platform answered.
        raw: Option<String>,
        /// For people.
        why: String,
    },
    /// Another rule says no; nothing is recorded.
    Refused(Box<Refusal>),
}

/// What happened, and what is to be said of it.
#[derive(Debug, Clone, Default)]
pub struct Accepted {
    /// What is recorded; nothing, where all is known.
    pub acts: Vec<BootstrapAct>,
    /// For people.
    pub warnings: Vec<String>,
}

/// A violation of the contract.
#[derive(Debug, Clone)]
pub struct Breached {
    /// What is recorded before it, if anything is.
    pub first: Option<BootstrapAct>,
    /// The contract's code.
    pub code: Code,
    /// Where the run falls back to.
    pub rolled_back_to: State,
    /// What was violated.
    pub why: String,
}

/// What a guard says.
pub type Ruled = Result<Accepted, Refusal>;

impl Accepted {
    /// One thing happened.
    pub fn one(act: BootstrapAct) -> Accepted {
        Accepted {
            acts: vec![act],
            warnings: Vec::new(),
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
}

/// The event is not legal here.
pub fn illegal(run: &Run, event: &str, why: &str) -> Refusal {
    let message = format!("{event} is not legal in {}: {why}", run.state.name());
    Refusal::new(Code::IllegalEvent, message).field("event")
}
