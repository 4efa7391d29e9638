//! Tasks that need a person or the lead. Indexes over unfinished tasks find these tasks, so that a query reads no other rows.

use super::ready;
use super::row::task_key;
use super::{Status, Task, TaskPage};
use crate::prelude::*;

/// Namespace of the concerns of tasks; key: concern and task, in natural order.
const CONCERN: u8 = 0x68;
/// Namespace of dependencies that are no tasks of the team; key: unfinished task and dependency.
const UNKNOWN_DEP: u8 = 0x69;

/// A reason why a person should look at an unfinished task. The row of the task shows if the reason applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Concern {
    /// A message reported the task blocked.
    ReportedBlocked,
    /// A message named a status or an owner that the task does not have, because only claims change them.
    Unapplied,
    /// Dependencies of the task's last assignment were left out, because they would have closed a cycle.
    IgnoredDeps,
}

impl Concern {
    /// Every concern.
    pub const ALL: [Concern; 3] = [
        Concern::ReportedBlocked,
        Concern::Unapplied,
        Concern::IgnoredDeps,
    ];

    /// Returns true if the concern applies to a task.
    pub fn is_of(self, task: &Task) -> bool {
        let found = match self {
            Concern::ReportedBlocked if task.claim_governed => {
                task.status == Status::InProgress && task.reported.blocked
            }
            Concern::ReportedBlocked => task.blocked || task.status == Status::Blocked,
            Concern::Unapplied => task.reported.unapplied.is_some(),
            Concern::IgnoredDeps => !task.ignored_deps.is_empty(),
        };
        found && !task.status.is_final()
    }

    pub(super) fn key(self, natural: &[u8]) -> Vec<u8> {
        [&[CONCERN, self as u8], natural].concat()
    }
}

/// A dependency of an unfinished task that is no task of the team.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct UnknownDep {
    /// The task that waits.
    pub task_id: String,
    /// The id of the missing task.
    pub dep: String,
}
row!(UnknownDep);

impl TeamState {
    /// Returns the tasks to which a concern applies, in natural order.
    pub fn concerning_tasks(&self, concern: Concern, limit: usize) -> Result<TaskPage> {
        super::query::page(self.rows(), vec![concern.key(b"")], 0, None, limit)
    }

    /// Returns the dependencies of unfinished tasks that are no tasks of the team, by task.
    pub fn unknown_deps(&self, limit: usize) -> Result<Vec<UnknownDep>> {
        let entries = self.rows().prefix(&[UNKNOWN_DEP], false).take(limit);
        entries.map(|entry| entry?.row()).collect()
    }
}

/// Updates the list of unknown dependencies after a task was stored.
pub(super) fn follow(tx: &mut Tx<'_>, id: &str, old: Option<&Task>, new: &Task) -> Result<()> {
    let open = |task: &Task| !task.status.is_final();
    let before = old.filter(|old| open(old)).map(|old| &old.deps);
    let after = Some(new).filter(|new| open(new)).map(|new| &new.deps);
    let (before, after) = (before.into_iter().flatten(), after.into_iter().flatten());
    let (before, after): (Vec<&String>, Vec<&String>) = (before.collect(), after.collect());
    for dep in before.iter().filter(|dep| !after.contains(dep)) {
        let key = unknown_key(id, dep);
        if tx.has(&key)? {
            tx.delete(&key);
        }
    }
    for dep in after.into_iter().filter(|dep| !before.contains(dep)) {
        if !tx.has(&task_key(dep))? {
            let row = UnknownDep {
                task_id: id.to_owned(),
                dep: dep.clone(),
            };
            tx.put(&unknown_key(id, dep), &row);
        }
    }
    match old {
        None => ready::each_waiter(tx, id, |tx, waiter| {
            tx.delete(&unknown_key(waiter, id));
            Ok(())
        }),
        Some(_) => Ok(()),
    }
}

fn unknown_key(task: &str, dep: &str) -> Vec<u8> {
    [&*named(UNKNOWN_DEP, task), dep.as_bytes()].concat()
}
