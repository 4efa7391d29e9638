//! Queries of used tokens.

use super::{AGENT_TAG, BUDGET, BudgetInfo, USED, UsageOf, Used, key};
use crate::prelude::*;

impl TeamState {
    /// Returns the tokens used by the team, an agent or a task.
    pub fn used(&self, whose: UsageOf<'_>) -> Result<Used> {
        Ok(self.rows().get(&key(whose))?.unwrap_or_default())
    }
    /// Returns the budget; `None` if no budget was set.
    pub fn budget(&self) -> Result<Option<BudgetInfo>> {
        let info: Option<BudgetInfo> = self.rows().get(&[BUDGET])?;
        Ok(info.filter(|info| info.seq > 0))
    }
    /// Returns agents with used tokens, by name, starting after `after`.
    pub fn agents_used(&self, after: Option<&str>, limit: usize) -> Result<Vec<(String, Used)>> {
        let prefix = [USED, AGENT_TAG];
        let found = self.rows().behind(&prefix, after).take(limit).map(|entry| {
            let entry = entry?;
            Ok((entry.name(prefix.len()), entry.row()?))
        });
        found.collect()
    }
}
