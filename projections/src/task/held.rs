//! Which paths are held: the live claims of tasks that declared resources, by holder.

use super::Task;
use crate::natural;
use crate::prelude::*;

/// By holder and task.
const HELD: u8 = 0x44;

/// A live claim on a task that declared resources, whether or not its lease ran out meanwhile.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct HeldResources {
    /// The task.
    #[rkyv(with = Skip)]
    pub task_id: String,
    /// Who holds it.
    #[rkyv(with = Skip)]
    pub holder: String,
    /// The claim counts before that moment.
    pub leased_until: Timestamp,
    /// What the task declared.
    pub resources: Vec<String>,
    /// Whether others may hold the same, if somebody said.
    pub shared: Option<bool>,
}

row!(HeldResources);

/// Brings the index from the old row of a task to the new one.
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
    /// What a holder's live claims hold of paths, in natural order of the tasks.
    pub fn held_by(&self, holder: &str) -> Result<Vec<HeldResources>> {
        found(self.rows(), &named(HELD, holder))
    }
    /// What all live claims hold of paths, holder by holder.
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
