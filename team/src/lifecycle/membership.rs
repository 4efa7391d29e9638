//! Queries about the members of a team.

use crate::operation::prelude::*;

pub use crate::names::LEADER;

impl Team {
    /// Returns a warning if the worker is unknown.
    pub fn unknown_warning(&mut self, worker: &str) -> Result<Option<String>> {
        self.query(|live, _| membership::unknown_warning(live, worker))
    }

    /// Checks that an agent may act in the team.
    pub fn knows(&mut self, field: &'static str, agent: &str) -> Result<()> {
        self.query(|live, _| membership::check(live, field, agent))
    }
}
