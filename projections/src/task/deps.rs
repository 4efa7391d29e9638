//! The check of dependencies for cycles. If no other task waits for a task, the task cannot close a cycle, so nothing is read.

use super::row::task_key;
use super::{Task, ready};
use crate::prelude::*;

/// Largest number of tasks that are read when following one dependency. A longer chain of tasks counts as a cycle, so that the
/// cost of an assignment is bounded.
const DEPENDENCY_WALK_MAX: usize = 4096;

/// Result of following the dependencies of a task.
enum Way {
    /// The dependencies end without a cycle.
    Out,
    /// The dependencies lead back to the task. Holds the tasks from the dependency to the task.
    Back(Vec<String>),
    /// There are more than [`DEPENDENCY_WALK_MAX`] tasks to follow.
    Far,
}

/// Returns the wanted dependencies without repeats, and the dependencies that are left out because they lead back to
/// the task.
pub(super) fn split(
    tx: &Tx<'_>,
    id: &str,
    wanted: &[String],
) -> Result<(Vec<String>, Vec<String>)> {
    let (mut deps, mut ignored) = (Vec::new(), Vec::new());
    let can_close = tx.has(&ready::waited_for(id))?;
    for dep in wanted {
        if deps.contains(dep) || ignored.contains(dep) {
            continue;
        }
        if !can_close && dep != id {
            deps.push(dep.clone());
            continue;
        }
        match way(dep, id, |key| tx.get(key))? {
            Way::Out => deps.push(dep.clone()),
            Way::Back(_) | Way::Far => ignored.push(dep.clone()),
        }
    }
    Ok((deps, ignored))
}

impl TeamState {
    /// Returns the first of the wanted dependencies that `split` would leave out, as a cycle from the task back to the task. The
    /// cycle has only the task and the dependency if there are too many tasks to follow.
    pub fn dependency_cycle(&self, id: &str, wanted: &[String]) -> Result<Option<Vec<String>>> {
        let can_close = self.rows().has(&ready::waited_for(id))?;
        for dep in wanted.iter().filter(|dep| can_close || *dep == id) {
            let cycle = match way(dep, id, |key| self.rows().get(key))? {
                Way::Out => continue,
                Way::Back(way) => way,
                Way::Far => vec![dep.clone()],
            };
            return Ok(Some([vec![id.to_owned()], cycle].concat()));
        }
        Ok(None)
    }
}

/// Follows the dependencies of `from` until the dependencies end or reach `to`.
fn way(from: &str, to: &str, row: impl Fn(&[u8]) -> Result<Option<Task>>) -> Result<Way> {
    // Maps each visited task to the task whose dependency it is.
    let mut met = BTreeMap::from([(from.to_owned(), None)]);
    let mut open = vec![from.to_owned()];
    while let Some(id) = open.pop() {
        if id == to {
            return Ok(Way::Back(steps(&met, id)));
        }
        if met.len() > DEPENDENCY_WALK_MAX {
            return Ok(Way::Far);
        }
        let Some(task) = row(&task_key(&id))? else {
            continue;
        };
        for dep in task.deps {
            if !met.contains_key(&dep) {
                met.insert(dep.clone(), Some(id.clone()));
                open.push(dep);
            }
        }
    }
    Ok(Way::Out)
}

fn steps(met: &BTreeMap<String, Option<String>>, last: String) -> Vec<String> {
    let mut steps = vec![last];
    while let Some(before) = steps.last().and_then(|id| met.get(id)).cloned().flatten() {
        steps.push(before);
    }
    steps.reverse();
    steps
}
