//! `read-task` and `list-tasks`: tasks as the mutation contract shows them.

use crate::task::list::Tasks;
use crate::task::prelude::*;
use crate::task::sorting::{SortOrder, TaskSort};

operation! {
    /// Read one task
    "read-task": Reads(ReadTask) -> TaskAnswer = |team, asked| {
        let task = team.task_record(&asked.task_id)?;
        Ok(TaskAnswer { task })
    },
    refuses = [TaskNotFound],
    without_team = |missing| Refusal {
        code: Code::TaskNotFound,
        ..missing
    }
}

operation! {
    /// List tasks, in natural order of their ids or as asked for
    "list-tasks": Reads(ListTasks) -> TasksData = |team, asked| team.task_records(asked.into()),
    refuses = [CursorUnknown],
    empty = |_, _| TasksData::default()
}

/// `read-task`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadTask {
    /// The task's id
    pub task_id: String,
}

/// `list-tasks`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListTasks {
    /// Only those of that status
    #[schemars(with = "Option<Status>")]
    #[serde(default)]
    pub status: Option<String>,
    /// Only those of that owner
    #[serde(default)]
    pub owner: Option<String>,
    /// Most tasks on the page; else all
    #[serde(default)]
    pub limit: Option<usize>,
    /// The next_cursor of the page before
    #[serde(default)]
    pub cursor: Option<String>,
    /// By what they are sorted; else by id. By id from the least on and by status the index has the order; any other reads
    /// every task that the filters let through
    #[serde(default)]
    pub sort: Option<TaskSort>,
    /// Which end comes first; else by id and status the least, by update and priority the most
    #[serde(default)]
    pub order: Option<SortOrder>,
    /// Only those that an event behind that seq changed; reads every task that the filters let through
    #[serde(default)]
    pub since: Option<u64>,
}

impl From<ListTasks> for Tasks {
    fn from(asked: ListTasks) -> Tasks {
        Tasks {
            status: asked.status,
            owner: asked.owner,
            limit: Some(asked.limit.unwrap_or(0)),
            cursor: asked.cursor,
            sort: asked.sort,
            order: asked.order,
            since: asked.since,
        }
    }
}

/// `{count, tasks, next_cursor?}`.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct TasksData {
    /// Tasks on the page
    pub count: usize,
    /// The page, in the order asked for
    pub tasks: Vec<TaskRecord>,
    /// What to go on behind while more remain: the last id of the page, unless another order was asked for
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl Team {
    /// One task as it stands now.
    pub fn task_record(&mut self, task_id: &str) -> Result<TaskRecord> {
        let now = self.now();
        names::check_known("task_id", task_id)?;
        self.query(|live, _| record(live, task_id, now))
    }

    /// Tasks as they stand now, in natural order of their ids.
    pub fn task_records(&mut self, tasks: Tasks) -> Result<TasksData> {
        let now = self.now();
        let page = self.tasks(tasks)?;
        let mut failed = page.failed_dependencies;
        let record = |task: Listed| {
            let failed = failed.remove(&task.task_id).unwrap_or_default();
            TaskRecord::at(task.into_task(), failed, now)
        };
        Ok(TasksData {
            count: page.count,
            tasks: page.tasks.into_iter().map(record).collect(),
            next_cursor: page.next_cursor,
        })
    }
}
