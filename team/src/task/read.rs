//! `read-task` and `list-tasks`: tasks as the mutation contract shows them.

use crate::failure::Result;
use crate::handle::team::Team;
use crate::names;
use crate::task::create::record;
use crate::task::list::Tasks;
use crate::task::listed::Listed;
use crate::task::record::TaskRecord;

/// A page of tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskRecords {
    /// The page.
    pub tasks: Vec<TaskRecord>,
    /// The last id of the page while more remain.
    pub next_cursor: Option<String>,
}

impl Team {
    /// One task as it stands now.
    ///
    /// # Errors
    /// `task_not_found`, `invalid_input`; the log's.
    pub fn task_record(&mut self, task_id: &str) -> Result<TaskRecord> {
        let now = self.now();
        names::check_known("task_id", task_id)?;
        self.query(|live, _| record(live, task_id, now))
    }

    /// Tasks as they stand now, in natural order of their ids.
    ///
    /// # Errors
    /// As [`Team::tasks`].
    pub fn task_records(&mut self, tasks: Tasks) -> Result<TaskRecords> {
        let now = self.now();
        let page = self.tasks(tasks)?;
        let mut failed = page.failed_dependencies;
        let record = |task: Listed| {
            let failed = failed.remove(&task.task_id).unwrap_or_default();
            TaskRecord::at(task.into_task(), failed, now)
        };
        Ok(TaskRecords {
            tasks: page.tasks.into_iter().map(record).collect(),
            next_cursor: page.next_cursor,
        })
    }
}
