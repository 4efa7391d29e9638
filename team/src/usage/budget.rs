//! The warning about a team's budget.

use crate::operation::prelude::*;
use crate::projections::usage::UsageOf;

impl Team {
    /// Returns a one-line warning about the budget, for agents that work for the team; `None` if there is no reason to warn.
    pub fn budget_warning(&mut self) -> Result<Option<String>> {
        self.peek(|live| {
            let info = live.budget()?;
            let used = live.used(UsageOf::Team)?.tokens;
            Ok(budget::warning(info.as_ref(), used))
        })
    }
}
