//! Lists of the tasks that an agent can take up, and of the tasks that wait for other tasks.
//!
//! A task's readiness depends on other tasks. So each known dependency has a list of the tasks that wait for it, and these tasks
//! are checked again when the dependency is completed or reopened. Ready tasks are listed in the order in which they are taken
//! up: most urgent first, then oldest, then by id. Each list has a count.

use super::row::task_key;
use super::{Status, Task};
use crate::event::message::Priority;
use crate::natural;
use crate::prelude::*;

/// Namespace of the tasks that an agent can take up.
const READY: u8 = 0x36;
/// Namespace of ready tasks by agent: an owner's tasks under its name, the tasks for any agent under the empty name.
const READY_FOR: u8 = 0x37;
/// Namespace of unfinished tasks that cannot be continued, by owner.
const WAITING: u8 = 0x38;
/// Namespace of the number of entries of each list; key: prefix of the list.
const LISTED: u8 = 0x39;
/// Namespace of waiting tasks; key: dependency and number. The key with the dependency alone holds the count of these numbers.
const WAITERS: u8 = 0x3A;
/// Namespace of markers of tasks that have a number under a dependency; key: dependency and task.
const WAITS: u8 = 0x3B;
/// Namespace of claim-governed tasks that are stored as blocked although their dependencies are completed.
const FREED: u8 = 0x3F;

/// Namespace of the index of deferred tasks, by the time from which an agent can take them up. No other list of ready tasks has deferred
/// tasks.
const DEFERRED: u8 = 0x97;

/// Number of bytes before the natural key in an entry of a ready list.
pub(super) const RANK_BYTES: usize = 9;

/// Returns the prefix of the ready tasks of `agent`; `None` means the tasks for any agent.
pub(super) fn ready_for(agent: Option<&str>) -> Vec<u8> {
    named(READY_FOR, agent.unwrap_or_default())
}

/// Returns the index of deferred tasks.
pub(super) fn deferred() -> u8 {
    DEFERRED
}

/// Returns the prefix of all ready tasks.
pub(super) fn ready_all() -> Vec<u8> {
    vec![READY]
}

/// Returns the prefix of the tasks that are stored as blocked although their dependencies are completed.
pub(super) fn freed() -> Vec<u8> {
    vec![FREED]
}

/// Returns the prefix of the tasks that `owner` cannot continue.
pub(super) fn waiting_of(owner: &str) -> Vec<u8> {
    named(WAITING, owner)
}

/// Returns the key of a list's count.
pub(super) fn count_key(list: &[u8]) -> Vec<u8> {
    key_of(LISTED, list)
}

/// Returns the position of a task in a ready list.
pub(super) fn rank(priority: Priority, created_at: Timestamp, natural: &[u8]) -> Vec<u8> {
    let mut rank = Vec::with_capacity(RANK_BYTES + natural.len());
    rank.push(u8::MAX - priority as u8);
    rank.extend_from_slice(&created_at.micros().to_be_bytes());
    rank.extend_from_slice(natural);
    rank
}

/// Updates the lists after a task was stored: the entries of the task, and the entries of the tasks that wait for it.
pub(super) fn follow(
    tx: &mut Tx<'_>,
    id: &str,
    natural: &[u8],
    old: Option<&Task>,
    new: &Task,
) -> Result<()> {
    for dep in &new.deps {
        if old.is_none_or(|old| !old.deps.contains(dep)) {
            enlist(tx, dep, id)?;
        }
    }
    place(tx, natural, old, new)?;
    let completed = |task: &Task| task.status == Status::Completed;
    if old.is_some_and(completed) == completed(new) {
        return Ok(());
    }
    each_waiter(tx, id, |tx, waiter| {
        let natural = natural::key(waiter);
        let task: Option<Task> = tx.get(&task_key(waiter))?;
        // A newer assignment may have named other dependencies than `dep`.
        match task.filter(|task| task.deps.iter().any(|dep| dep == id)) {
            Some(task) => place(tx, &natural, Some(&task), &task),
            None => Ok(()),
        }
    })
}

/// Calls `visit` with each task that waits or once waited for another task.
pub(super) fn each_waiter(
    tx: &mut Tx<'_>,
    id: &str,
    mut visit: impl FnMut(&mut Tx<'_>, &str) -> Result<()>,
) -> Result<()> {
    let waiters: u64 = tx.get(&waited_for(id))?.unwrap_or_default();
    for number in 0..waiters {
        if let Some(waiter) = tx.get::<String>(&waiter_key(id, number))? {
            visit(tx, &waiter)?;
        }
    }
    Ok(())
}

/// Removes a task from lists that it left, and adds it to lists that it entered.
pub(super) fn place(tx: &mut Tx<'_>, natural: &[u8], old: Option<&Task>, new: &Task) -> Result<()> {
    let before = match old {
        Some(old) => listed(tx, natural, old)?,
        None => Vec::new(),
    };
    let after = lists(new, natural, has_open_deps(tx, new)?);
    for entry in before.iter().filter(|entry| !after.contains(entry)) {
        entry.leave(tx)?;
    }
    for entry in after.iter().filter(|entry| !before.contains(entry)) {
        entry.enter(tx)?;
    }
    Ok(())
}

/// Returns the entries of a stored task.
fn listed(tx: &Tx<'_>, natural: &[u8], task: &Task) -> Result<Vec<Listed>> {
    let free = lists(task, natural, false);
    if task.deps.is_empty() {
        return Ok(free);
    }
    // The task's place in the lists depends on other tasks, which may have changed meanwhile.
    let mut found = Vec::new();
    for entry in lists(task, natural, true).into_iter().chain(free) {
        if !found.contains(&entry) && tx.has(&entry.key())? {
            found.push(entry);
        }
    }
    Ok(found)
}

fn has_open_deps(tx: &Tx<'_>, task: &Task) -> Result<bool> {
    for dep in &task.deps {
        let row: Option<Task> = tx.get(&task_key(dep))?;
        if row.is_none_or(|row| row.status != Status::Completed) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// An entry of a list.
#[derive(Clone, PartialEq)]
struct Listed {
    list: Vec<u8>,
    at: Vec<u8>,
}

impl Listed {
    fn key(&self) -> Vec<u8> {
        [&*self.list, &*self.at].concat()
    }
    fn enter(&self, tx: &mut Tx<'_>) -> Result<()> {
        tx.mark(&self.key());
        tx.increment(&count_key(&self.list))
    }
    fn leave(&self, tx: &mut Tx<'_>) -> Result<()> {
        tx.delete(&self.key());
        tx.change(&count_key(&self.list), |count: &mut u64| {
            *count = count.saturating_sub(1);
        })
    }
}

/// Returns the entries that a task should have.
fn lists(task: &Task, natural: &[u8], open_deps: bool) -> Vec<Listed> {
    let held_up = match task.claim_governed {
        true => open_deps,
        false => task.blocked || task.status == Status::Blocked || open_deps,
    };
    let mut entries = Vec::new();
    let plan = &task.governed.plan;
    let offered = !held_up && plan.children.open == 0;
    if let (true, Some(at), Some(_)) = (offered, plan.defer_until, taker(task)) {
        let at = timed(DEFERRED, at.micros(), natural).split_off(1);
        let list = vec![DEFERRED];
        entries.push(Listed { list, at });
    } else if let (true, Some(taker)) = (offered, taker(task)) {
        for list in [ready_all(), ready_for(taker)] {
            let at = rank(task.priority, task.created_at, natural);
            entries.push(Listed { list, at });
        }
    }
    if let (true, false, Some(owner)) = (held_up, task.status.is_final(), &task.owner) {
        let list = waiting_of(owner);
        let at = natural.to_vec();
        entries.push(Listed { list, at });
    }
    if task.claim_governed && task.status == Status::Blocked && !held_up {
        let list = freed();
        let at = natural.to_vec();
        entries.push(Listed { list, at });
    }
    entries
}

/// Returns the agent that may take up a task without open dependencies: `Some(None)` for any agent, `None` for no agent. A task
/// that a message made `pending` is for any agent. A task that was assigned, or created with an owner, is for that owner.
fn taker(task: &Task) -> Option<Option<&str>> {
    match (task.claim_governed, task.status) {
        (false, Status::Pending) => Some(None),
        (false, Status::Assigned) | (true, Status::Pending | Status::Blocked) => {
            Some(task.owner.as_deref())
        }
        _ => None,
    }
}

/// Records that a task waits for another task. The record stays after the task ceases to wait.
fn enlist(tx: &mut Tx<'_>, dep: &str, task: &str) -> Result<()> {
    let known = [&*named(WAITS, dep), task.as_bytes()].concat();
    if tx.has(&known)? {
        return Ok(());
    }
    tx.mark(&known);
    let count_key = waited_for(dep);
    let count: u64 = tx.get(&count_key)?.unwrap_or_default();
    tx.put(&waiter_key(dep, count), &task.to_owned());
    tx.increment(&count_key)
}

/// Returns the key that exists if a task waits or once waited for `dep`.
pub(super) fn waited_for(dep: &str) -> Vec<u8> {
    key_of(WAITERS, dep.as_bytes())
}

/// Returns the tasks that wait or once waited for another task, in the order in which they began to wait.
pub(super) fn waiting_for<'a>(
    rows: Rows<'a>,
    dep: &str,
) -> impl Iterator<Item = Result<String>> + use<'a> {
    // For most tasks this key does not exist, and the filters of the runs show that without a search. If the check fails, reading
    // the entries reports the error.
    let entries = match rows.has(&waited_for(dep)) {
        Ok(false) => None,
        _ => Some(rows.prefix(&named(WAITERS, dep), false)),
    };
    entries.into_iter().flatten().map(|entry| entry?.row())
}

fn waiter_key(dep: &str, number: u64) -> Vec<u8> {
    [&*named(WAITERS, dep), &number.to_be_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::super::fold::{store, unborn};
    use super::*;
    use std::cell::Cell;
    use std::collections::BTreeMap;
    use teamlog_engine::internals::derived::{Changes, Value};

    /// A state in memory that counts reads and changed keys.
    #[derive(Default)]
    struct Counted {
        rows: BTreeMap<Vec<u8>, Vec<u8>>,
        reads: Cell<u64>,
        changed: BTreeSet<Vec<u8>>,
        /// Length of the longest value that was stored.
        longest: usize,
    }

    impl Changes for Counted {
        fn get(&self, key: &[u8]) -> teamlog_engine::Result<Option<Value<'_>>> {
            self.reads.set(self.reads.get() + 1);
            Ok(self.rows.get(key).map(|value| Value::Changed(value)))
        }
        fn put(&mut self, key: &[u8], value: &[u8]) {
            self.rows.insert(key.to_vec(), value.to_vec());
            self.changed.insert(key.to_vec());
            self.longest = self.longest.max(value.len());
        }
        fn delete(&mut self, key: &[u8]) {
            self.rows.remove(key);
            self.changed.insert(key.to_vec());
        }
    }

    /// Completes a task with `dependents` dependents. Returns the number of reads, the number of changed keys, and the length of
    /// the longest value.
    fn completed(dependents: u64) -> (u64, u64, usize) {
        let mut state = Counted::default();
        let one = Task {
            claim_governed: true,
            status: Status::InProgress,
            ..unborn(Timestamp::default())
        };
        let waiting = Task {
            status: Status::Blocked,
            deps: vec!["one".into()],
            ..one.clone()
        };
        let mut tx = Tx::new(&mut state);
        store(&mut tx, "one", None, &one).unwrap();
        for number in 0..dependents {
            store(&mut tx, &number.to_string(), None, &waiting).unwrap();
        }
        (state.reads, state.changed, state.longest) = Default::default();
        let done = Task {
            status: Status::Completed,
            ..one.clone()
        };
        store(&mut Tx::new(&mut state), "one", Some(&one), &done).unwrap();
        (state.reads.get(), state.changed.len() as u64, state.longest)
    }

    #[test]
    fn a_completion_reads_each_dependent_once_and_changes_its_places_alone() {
        let (none, few, many) = (completed(0), completed(100), completed(1_000));
        let each = |many: u64, few: u64| ((many - few) / 900, (many - few) % 900);
        assert_eq!(
            each(many.0, few.0),
            (9, 0),
            "reads: {none:?} {few:?} {many:?}"
        );
        // The task is in three lists: ready, ready for any agent, and freed.
        assert_eq!(
            each(many.1, few.1),
            (3, 0),
            "keys: {none:?} {few:?} {many:?}"
        );
        assert_eq!(many.2, none.2, "no value grows with those that wait");
    }
}
