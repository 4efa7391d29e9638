//! Queries of bootstrap runs.

use super::{BEGUN, DUE, Id, NUMBERED, RUN, Run};
use crate::prelude::*;

impl TeamState {
    /// Returns the run with this id.
    pub fn bootstrap_run(&self, id: &str) -> Result<Option<Run>> {
        self.rows().get(&key_of(RUN, id.as_bytes()))
    }
    /// Returns the newest runs, newest first.
    pub fn newest_bootstrap_runs(&self, limit: usize) -> Result<Vec<Run>> {
        let begun = self.bootstrap_runs_before(None, limit)?;
        Ok(begun.into_iter().map(|(_, run)| run).collect())
    }
    /// Returns the runs that began before an event, or all runs if no event is given. The newest run comes first. Each item has the seq of
    /// the run's first event, and the run.
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
    /// Returns a number that is larger than every run id.
    pub fn next_bootstrap_number(&self) -> Result<u64> {
        self.rows().next_number(&[NUMBERED])
    }
    /// Returns the runs with a timeout up to `now`, earliest first.
    pub fn bootstrap_due_by(&self, now: Timestamp, limit: usize) -> Result<Vec<Run>> {
        let end = timed(DUE, now.micros().saturating_add(1), b"");
        let mut runs = Vec::new();
        for entry in self.rows().walk(&[DUE], &end, false).take(limit) {
            runs.extend(self.bootstrap_run(&entry?.name(TIMED_BYTES))?);
        }
        Ok(runs)
    }
    /// Returns the next timeout of any run.
    pub fn next_bootstrap_due(&self) -> Result<Option<Timestamp>> {
        self.rows().first_time(DUE)
    }
}

/// Returns all runs, in the order of their ids.
pub(crate) fn all(rows: Rows<'_>) -> impl Iterator<Item = Result<Run>> + use<'_> {
    rows.prefix(&[RUN], false).map(|entry| entry?.row())
}
