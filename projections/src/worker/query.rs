//! Queries of workers.

use super::row::{APPROVAL, LastKnown, PHASE, REJECTED, SNAPSHOT, WorkerPart};
use crate::event::supervision::ATTENTION;
use crate::prelude::*;

impl TeamState {
    /// Returns the event with the monitor's snapshot.
    pub fn monitor_snapshot(&self) -> Result<Option<u64>> {
        self.rows().get(&[SNAPSHOT])
    }
    /// Returns the event with the leader's last attention state.
    pub fn leader_attention(&self) -> Result<Option<u64>> {
        self.last_reported(ATTENTION)
    }
    /// Returns the tasks whose required approval was last rejected, ordered by the bytes of their ids.
    pub fn rejected_tasks(&self, limit: usize) -> Result<Vec<String>> {
        let entries = self.rows().prefix(&[REJECTED], false).take(limit);
        entries.map(|entry| Ok(entry?.name(1))).collect()
    }
    /// Returns true if a reviewer decided on any task.
    pub fn has_approvals(&self) -> Result<bool> {
        let first = self.rows().prefix(&[APPROVAL], false).next();
        Ok(first.transpose()?.is_some())
    }
    /// Returns the phase of the team; `None` if the phase was never set.
    pub fn phase(&self) -> Result<Option<LastKnown<String>>> {
        self.rows().get(&[PHASE])
    }
}

/// Returns all workers with at least one part, sorted.
pub(crate) fn workers(rows: Rows<'_>) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for part in WorkerPart::ALL {
        for entry in rows.prefix(&[part.namespace()], false) {
            names.insert(entry?.name(1));
        }
    }
    Ok(names)
}

/// Returns the known parts of a worker.
pub(crate) fn parts(rows: Rows<'_>, worker: &str) -> Result<Vec<WorkerPart>> {
    let mut parts = Vec::new();
    for part in WorkerPart::ALL {
        if rows.has(&key_of(part.namespace(), worker.as_bytes()))? {
            parts.push(part);
        }
    }
    Ok(parts)
}
