//! Questions about workers.

use super::row::{APPROVAL, Noted, PHASE, REJECTED, SNAPSHOT, WorkerPart};
use crate::event::supervision::ATTENTION;
use crate::prelude::*;

impl TeamState {
    /// The event that holds the monitor's snapshot.
    pub fn monitor_snapshot(&self) -> Result<Option<u64>> {
        self.rows().get(&[SNAPSHOT])
    }
    /// The event that tells what was last seen of the leader.
    pub fn leader_attention(&self) -> Result<Option<u64>> {
        self.last_reported(ATTENTION)
    }
    /// Tasks whose required approval was rejected last, in the order of their ids as bytes.
    pub fn rejected_tasks(&self, limit: usize) -> Result<Vec<String>> {
        let entries = self.rows().prefix(&[REJECTED], false).take(limit);
        entries.map(|entry| Ok(entry?.name(1))).collect()
    }
    /// Returns whether a reviewer decided on any task.
    pub fn has_approvals(&self) -> Result<bool> {
        let first = self.rows().prefix(&[APPROVAL], false).next();
        Ok(first.transpose()?.is_some())
    }
    /// How far the team is; `None` where nobody said.
    pub fn phase(&self) -> Result<Option<Noted<String>>> {
        self.rows().get(&[PHASE])
    }
}

/// Everybody of whom a part is known, sorted.
pub(crate) fn workers(rows: Rows<'_>) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for part in WorkerPart::ALL {
        for entry in rows.prefix(&[part.namespace()], false) {
            names.insert(entry?.name(1));
        }
    }
    Ok(names)
}

/// Which parts are known of a worker.
pub(crate) fn parts(rows: Rows<'_>, worker: &str) -> Result<Vec<WorkerPart>> {
    let mut parts = Vec::new();
    for part in WorkerPart::ALL {
        if rows.has(&key_of(part.namespace(), worker.as_bytes()))? {
            parts.push(part);
        }
    }
    Ok(parts)
}
