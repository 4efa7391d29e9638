//! Held paths: the live claims on tasks that declared resources, by holder.

use super::Task;
use crate::natural;
use crate::prelude::*;

/// Namespace of live claims with resources; key: holder and task.
const HELD: u8 = 0x44;

/// A live claim on a task that declared resources. The lease of the claim may have run out meanwhile.
#[derive(
    Debug,
    Clone,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    rkyv::Archive,
    rkyv::Serialize,
    rkyv::Deserialize,
)]
pub struct HeldResources {
    /// Id of the task.
    #[rkyv(with = Skip)]
    pub task_id: String,
    /// Holder of the claim.
    #[rkyv(with = Skip)]
    pub holder: String,
    /// End of the lease.
    pub leased_until: Timestamp,
    /// Paths and patterns that the task declared.
    pub resources: Vec<String>,
    /// True if other agents may hold the same paths; absent if the task does not say.
    pub shared: Option<bool>,
}

row!(HeldResources);

/// Updates the index after a task was stored.
pub(super) fn follow(tx: &mut Tx<'_>, natural: &[u8], old: Option<&Task>, new: &Task) {
    let before = old.and_then(|old| entry(old, natural));
    let after = entry(new, natural);
    if before == after {
        return;
    }
    if let Some((key, _)) = &before
        && after.as_ref().is_none_or(|(now, _)| now != key)
    {
        tx.delete(key);
    }
    if let Some((key, row)) = &after {
        tx.put(key, row);
    }
}

fn entry(task: &Task, natural: &[u8]) -> Option<(Vec<u8>, HeldResources)> {
    let claim = task.claim()?;
    if task.governed.resources.is_empty() {
        return None;
    }
    let key = [&*named(HELD, &claim.owner), natural].concat();
    let held = HeldResources {
        task_id: task.task_id.clone(),
        holder: claim.owner.clone(),
        leased_until: claim.leased_until,
        resources: task.governed.resources.clone(),
        shared: task.governed.shared,
    };
    Some((key, held))
}

impl TeamState {
    /// Returns the paths that a holder's live claims hold, in natural order of the tasks.
    pub fn held_by(&self, holder: &str) -> Result<Vec<HeldResources>> {
        found(self.rows(), &named(HELD, holder))
    }
    /// Returns the paths that all live claims hold, holder by holder.
    pub fn held_resources(&self) -> Result<Vec<HeldResources>> {
        found(self.rows(), &[HELD])
    }
}

fn found(rows: Rows<'_>, prefix: &[u8]) -> Result<Vec<HeldResources>> {
    let mut held = Vec::new();
    for entry in rows.prefix(prefix, false) {
        let entry = entry?;
        let mut names = entry.behind(1).splitn(2, |byte| *byte == 0);
        let holder = String::from_utf8_lossy(names.next().unwrap_or_default()).into_owned();
        let task = natural::decode(names.next().unwrap_or_default());
        held.push(HeldResources {
            task_id: task.unwrap_or_default(),
            holder,
            ..entry.row()?
        });
    }
    Ok(held)
}
