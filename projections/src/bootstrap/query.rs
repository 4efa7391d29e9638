//! Questions about runs of the bootstrap contract.

use super::{BEGUN, DUE, Id, NUMBERED, RUN, Run};
use crate::prelude::*;

impl TeamState {
    /// A run of the bootstrap contract by its id.
    pub fn bootstrap_run(&self, id: &str) -> Result<Option<Run>> {
        self.rows().get(&key_of(RUN, id.as_bytes()))
    }
    /// The runs that began last, the newest first.
    pub fn newest_bootstrap_runs(&self, limit: usize) -> Result<Vec<Run>> {
        let begun = self.bootstrap_runs_before(None, limit)?;
        Ok(begun.into_iter().map(|(_, run)| run).collect())
    }
    /// The runs that began before an event, or all, the newest first, each with the event that began it.
    pub fn bootstrap_runs_before(
        &self,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<(u64, Run)>> {
        let prefix = key::series(BEGUN, b"");
        let end = match before {
            Some(seq) => numbered(BEGUN, "", seq),
            None => end_of(&prefix),
        };
        let mut runs = Vec::new();
        for entry in self.rows().walk(&prefix, &end, true).take(limit) {
            let entry = entry?;
            let Id(id) = entry.row()?;
            runs.extend(self.bootstrap_run(&id)?.map(|run| (entry.seq(), run)));
        }
        Ok(runs)
    }
    /// A number that is the id of no run, larger than all that are.
    pub fn next_bootstrap_number(&self) -> Result<u64> {
        self.rows().next_number(&[NUMBERED])
    }
    /// The runs of which something timed out by `now`, the earliest first.
    pub fn bootstrap_due_by(&self, now: Timestamp, limit: usize) -> Result<Vec<Run>> {
        let end = timed(DUE, now.micros().saturating_add(1), b"");
        let mut runs = Vec::new();
        for entry in self.rows().walk(&[DUE], &end, false).take(limit) {
            runs.extend(self.bootstrap_run(&entry?.name(TIMED_BYTES))?);
        }
        Ok(runs)
    }
    /// When the next thing of any run times out.
    pub fn next_bootstrap_due(&self) -> Result<Option<Timestamp>> {
        self.rows().first_time(DUE)
    }
}

/// The ids of all runs, in the order of their names.
pub(crate) fn all(rows: Rows<'_>) -> impl Iterator<Item = Result<Run>> + use<'_> {
    rows.prefix(&[RUN], false).map(|entry| entry?.row())
}
