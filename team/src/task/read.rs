//! `read-task` and `list-tasks`: tasks in the fields of the mutation contract.

use crate::projections::task::UnmetDeps;
use crate::task::list::Tasks;
use crate::task::prelude::*;

operation! {
    /// Read one task
    "read-task": Reads(ReadTask) -> TaskAnswer = |team, asked| {
        let task = team.task_record(&asked.task_id)?;
        Ok(TaskAnswer::from(task))
    },
    refuses = [TaskNotFound],
    without_team = |missing| Refusal {
        code: Code::TaskNotFound,
        ..missing
    }
}

operation! {
    /// List tasks, in natural order of their ids or in the requested order
    "list-tasks": Reads(Tasks) -> TasksData = |team, asked| team.task_records(asked.or_all()),
    refuses = [CursorUnknown],
    empty = |_, _| TasksData::default()
}

/// Input of `read-task`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadTask {
    /// The task's id
    pub task_id: String,
}

/// The answer `{count, tasks, next_cursor?}`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct TasksData {
    /// Number of tasks on the page
    pub count: usize,
    /// The tasks of the page, in the requested order
    pub tasks: Vec<TaskRecord>,
    /// Cursor of the next page; absent on the last page. In the order of ids it is the last id of the page, in another order the
    /// sort key and the id
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl Team {
    /// Returns the record of a task at the current time.
    pub fn task_record(&mut self, task_id: &str) -> Result<TaskRecord> {
        let now = self.now();
        names::check_known("task_id", task_id)?;
        self.query(|live, _| record(live, task_id, now))
    }

    /// Returns the records of a page of tasks at the current time.
    pub fn task_records(&mut self, tasks: Tasks) -> Result<TasksData> {
        let now = self.now();
        let page = self.tasks(tasks)?;
        let (mut failed, mut unknown) = (page.failed_dependencies, page.unknown_dependencies);
        let (mut approvals, mut comments) = (page.approvals, page.comments);
        let record = |task: Listed| {
            let unmet = UnmetDeps {
                failed: failed.remove(&task.task_id).unwrap_or_default(),
                unknown: unknown.remove(&task.task_id).unwrap_or_default(),
            };
            let approval = approvals.remove(&task.task_id);
            let comments = comments.remove(&task.task_id).unwrap_or_default();
            let record = TaskRecord::at(task.into_task(), unmet, now);
            record.with_approval(approval).with_comments(comments)
        };
        Ok(TasksData {
            count: page.count,
            tasks: page.tasks.into_iter().map(record).collect(),
            next_cursor: page.next_cursor,
        })
    }
}
