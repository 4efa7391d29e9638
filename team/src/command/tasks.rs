//! `tasks`: the tasks of a team, in natural order of their ids.

use crate::projections::Task;
use serde::Serialize;

/// What `tasks` is asked.
#[derive(Debug, Clone, Default)]
pub struct Tasks {
    /// Only tasks of that status (old names are taken for today's).
    pub status: Option<String>,
    /// Only tasks of that owner.
    pub owner: Option<String>,
    /// Most tasks on the page; `None` is 50, 0 is all.
    pub limit: Option<usize>,
    /// The last task id of the page before.
    pub cursor: Option<String>,
}

/// `{tasks[], count, next_cursor}`.
#[derive(Debug, Clone, Serialize)]
pub struct TasksAnswer {
    /// The page.
    #[serde(serialize_with = "crate::shapes::tasks")]
    pub tasks: Vec<Task>,
    /// Tasks on the page.
    pub count: usize,
    /// The last id of the page while more remain.
    pub next_cursor: Option<String>,
}
