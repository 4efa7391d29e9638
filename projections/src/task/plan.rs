//! The plan of a task: labels, times, parent, and the progress of its children.

use super::row::task_key;
use super::{Status, Task, ready};
use crate::event::PlanChange;
use crate::natural;
use crate::prelude::*;

/// The plan of a task.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize,
)]
pub struct Plan {
    /// Labels, in the order in which they were added.
    pub labels: Vec<String>,
    /// Time by which the task is to be completed.
    pub due_at: Option<Timestamp>,
    /// Time before which the task is not offered.
    pub defer_until: Option<Timestamp>,
    /// Parent of the task.
    pub parent: Option<String>,
    /// Progress of the task's children.
    pub children: Children,
}

/// The number of a task's children.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    JsonSchema,
    rkyv::Archive,
    rkyv::Serialize,
    rkyv::Deserialize,
)]
pub struct Children {
    /// All children.
    pub total: u64,
    /// Children that are not finished.
    pub open: u64,
    /// Completed children.
    pub completed: u64,
}

/// A child as its parent counts it.
#[derive(Clone, Copy, PartialEq)]
struct Child<'a> {
    parent: &'a str,
    status: Status,
}

row!(Children);

impl Stored<Option<Box<Plan>>> for Plan {
    fn stored(&self) -> Option<Box<Plan>> {
        (*self != Plan::default()).then(|| Box::new(self.clone()))
    }
    fn found(stored: Option<Box<Plan>>) -> Plan {
        stored.map(|plan| *plan).unwrap_or_default()
    }
}

impl Plan {
    /// Overwrites the parts that an event sets; the others keep their values.
    pub(super) fn change(&mut self, change: &PlanChange) {
        let PlanChange {
            labels,
            due_at,
            defer_until,
            parent,
        } = change;
        if let Some(labels) = labels {
            self.labels.clone_from(labels);
        }
        self.due_at = due_at.unwrap_or(self.due_at);
        self.defer_until = defer_until.unwrap_or(self.defer_until);
        if let Some(parent) = parent {
            self.parent.clone_from(parent);
        }
    }
}

impl Children {
    fn add(&mut self, status: Status) {
        self.total += 1;
        self.open += u64::from(!status.is_final());
        self.completed += u64::from(status == Status::Completed);
    }

    fn remove(&mut self, status: Status) {
        let less = |count: u64, one: bool| count.saturating_sub(u64::from(one));
        self.total = less(self.total, true);
        self.open = less(self.open, !status.is_final());
        self.completed = less(self.completed, status == Status::Completed);
    }
}

/// Namespace of the numbers of children; key: parent, which need not exist.
const CHILDREN: u8 = 0x98;

/// Returns a new task with the progress of its children: tasks can name a parent before that parent exists.
pub(super) fn with_children<'a>(tx: &Tx<'_>, id: &str, new: &'a Task) -> Result<Cow<'a, Task>> {
    let Some(children) = tx.get(&key_of(CHILDREN, id.as_bytes()))? else {
        return Ok(Cow::Borrowed(new));
    };
    let mut task = new.clone();
    task.governed.known = true;
    task.governed.plan.children = children;
    Ok(Cow::Owned(task))
}

/// Updates the progress of the parents of a task that was stored.
pub(super) fn follow(tx: &mut Tx<'_>, id: &str, old: Option<&Task>, new: &Task) -> Result<()> {
    let (before, after) = (old.and_then(child), child(new));
    if before == after {
        return Ok(());
    }
    let parents: BTreeSet<&str> = before.iter().chain(&after).map(|one| one.parent).collect();
    for parent in parents.into_iter().filter(|parent| *parent != id) {
        let key = key_of(CHILDREN, parent.as_bytes());
        let mut children: Children = tx.get(&key)?.unwrap_or_default();
        let of_parent = |one: &Child<'_>| one.parent == parent;
        if let Some(child) = before.filter(of_parent) {
            children.remove(child.status);
        }
        if let Some(child) = after.filter(of_parent) {
            children.add(child.status);
        }
        tx.put(&key, &children);
        let Some(old): Option<Task> = tx.get(&task_key(parent))? else {
            continue;
        };
        // The parent keeps its seq: no event changed the parent itself, and its view file is not written anew.
        let mut task = old.clone();
        task.governed.known = true;
        task.governed.plan.children = children;
        tx.put(&task_key(parent), &task);
        ready::place(tx, &natural::key(parent), Some(&old), &task)?;
    }
    Ok(())
}

fn child(task: &Task) -> Option<Child<'_>> {
    let parent = task.governed.plan.parent.as_deref()?;
    let status = task.status;
    Some(Child { parent, status })
}

/// Maximum number of ancestors that are read. A longer chain counts as a cycle.
const ANCESTORS_MAX: usize = 256;

impl TeamState {
    /// Returns the ancestors of the task `id`, whose parent is `parent`: the parent, its parent, and so on. A chain that leads back
    /// to `id` ends with `id`. A chain that is too long to follow counts as such a cycle, and also ends with `id`.
    pub fn ancestors(&self, id: &str, parent: &str) -> Result<Vec<String>> {
        let mut found = vec![parent.to_owned()];
        while let Some(last) = found.last().filter(|last| *last != id) {
            if found.len() > ANCESTORS_MAX {
                found.push(id.to_owned());
                break;
            }
            let task = self.task(last)?;
            match task.and_then(|task| task.governed.plan.parent) {
                Some(next) => found.push(next),
                None => break,
            }
        }
        Ok(found)
    }
}
