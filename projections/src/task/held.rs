//! Which paths are held: the live claims of tasks that declared resources, by holder.

use super::row::TaskRow;
use crate::natural;
use crate::prelude::*;

/// By holder and task.
const HELD: u8 = 0x44;

/// A live claim on a task that declared resources, whether or not its lease ran out meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldResources {
    /// The task.
    pub task_id: String,
    /// Who holds it.
    pub holder: String,
    /// The claim counts before that moment.
    pub leased_until: Timestamp,
    /// What the task declared.
    pub resources: Vec<String>,
    /// Whether others may hold the same, if somebody said.
    pub shared: Option<bool>,
}

#[derive(PartialEq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
struct HeldRow {
    leased_until: i64,
    resources: Vec<String>,
    shared: Option<bool>,
}
row!(HeldRow);

/// Brings the index from the old row of a task to the new one.
pub(super) fn follow(tx: &mut Tx<'_>, natural: &[u8], old: Option<&TaskRow>, new: &TaskRow) {
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

fn entry(task: &TaskRow, natural: &[u8]) -> Option<(Vec<u8>, HeldRow)> {
    let claim = task.claim()?;
    let governed = task.governed.as_ref()?;
    if governed.resources.is_empty() {
        return None;
    }
    let key = [&*prefix(&claim.owner), natural].concat();
    let row = HeldRow {
        leased_until: claim.leased_until,
        resources: governed.resources.clone(),
        shared: governed.shared,
    };
    Some((key, row))
}

/// The beginning of the keys of a holder. No name holds a zero.
fn prefix(holder: &str) -> Vec<u8> {
    let mut key = key_of(HELD, holder.as_bytes());
    key.push(0);
    key
}

impl Live {
    /// What a holder's live claims hold of paths, in natural order of the tasks.
    pub fn held_by(&self, holder: &str) -> Result<Vec<HeldResources>> {
        found(self.rows(), &prefix(holder))
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
        let row: HeldRow = entry.row()?;
        let mut names = entry.behind(1).splitn(2, |byte| *byte == 0);
        let holder = String::from_utf8_lossy(names.next().unwrap_or_default()).into_owned();
        let task = natural::decode(names.next().unwrap_or_default());
        held.push(row.held(task.unwrap_or_default(), holder));
    }
    Ok(held)
}

impl HeldRow {
    fn held(self, task_id: String, holder: String) -> HeldResources {
        HeldResources {
            task_id,
            holder,
            leased_until: Timestamp::from_micros(self.leased_until).unwrap_or_default(),
            resources: self.resources,
            shared: self.shared,
        }
    }
}
