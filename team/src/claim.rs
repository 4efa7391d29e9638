//! Claims on tasks: proofs that callers present, their checks, and expired leases. Commands in several folders use this module.

pub(crate) mod grant;
pub mod holding;
pub(crate) mod proof;
pub(crate) mod renewal;

use crate::prelude::*;

/// Returns the trace of a task, and refuses an unknown task.
pub(crate) fn existing(live: &Live, task_id: Option<&str>) -> Result<Option<String>> {
    let Some(task_id) = task_id else {
        return Ok(None);
    };
    names::check_known("task_id", task_id)?;
    let task = live.task(task_id)?;
    Ok(task.ok_or_else(|| holding::not_found(task_id))?.trace_id)
}
