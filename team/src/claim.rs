//! Claims on tasks, below the commands of any noun: proofs that callers present, their checks, and leases that run out.

pub(crate) mod grant;
pub mod holding;
pub(crate) mod proof;

use crate::prelude::*;

/// Returns the story of a task; refuses a task that does not exist.
pub(crate) fn existing(live: &Live, task_id: Option<&str>) -> Result<Option<String>> {
    let Some(task_id) = task_id else {
        return Ok(None);
    };
    names::check_known("task_id", task_id)?;
    let task = live.task(task_id)?;
    Ok(task.ok_or_else(|| holding::not_found(task_id))?.trace_id)
}
