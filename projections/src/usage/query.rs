//! Questions about tokens.

use super::{AGENT_TAG, BUDGET, BudgetInfo, BudgetRow, USED, Used, Whose, key};
use crate::prelude::*;

impl Live {
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
        let from = match after {
            None => prefix.to_vec(),
            // The next key there can be.
            Some(after) => [&prefix, after.as_bytes(), &[0]].concat(),
        };
        let found = self.rows().walk(&from, &end_of(&prefix), false).take(limit);
        found
            .map(|entry| {
                let entry: Entry<'_> = entry?;
                let name = String::from_utf8_lossy(entry.behind(prefix.len())).into_owned();
                Ok((name, entry.row()?))
            })
            .collect()
    }
}
