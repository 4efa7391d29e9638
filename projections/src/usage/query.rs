//! Questions about tokens.

use super::{AGENT_TAG, BUDGET, BudgetInfo, BudgetRow, USED, Used, Whose, key};
use crate::prelude::*;

impl TeamState {
    /// Tokens that were used.
    pub fn used(&self, whose: Whose<'_>) -> Result<Used> {
        Ok(self.rows().get(&key(whose))?.unwrap_or_default())
    }
    /// How many tokens may be used; `None` where nobody said.
    pub fn budget(&self) -> Result<Option<BudgetInfo>> {
        let row: Option<BudgetRow> = self.rows().get(&[BUDGET])?;
        let row = row.filter(|row| row.seq > 0);
        Ok(row.map(|row| BudgetInfo {
            soft_limit_reached: row.reached.is_some() && row.reached == row.budget.warns_at(),
            budget: row.budget,
            seq: row.seq,
        }))
    }
    /// Agents that used any, by name, from behind `after` on.
    pub fn agents_used(&self, after: Option<&str>, limit: usize) -> Result<Vec<(String, Used)>> {
        let prefix = [USED, AGENT_TAG];
        let found = self.rows().behind(&prefix, after).take(limit).map(|entry| {
            let entry = entry?;
            Ok((entry.name(prefix.len()), entry.row()?))
        });
        found.collect()
    }
}
