//! `task show`: one task, and what happened to it.

use crate::Recorded;
use crate::projections::Task;
use serde::Serialize;

/// What `task show` is asked.
#[derive(Debug, Clone, Default)]
pub struct TaskShow {
    /// The task.
    pub task_id: String,
    /// Also every event that names it.
    pub history: bool,
}

/// `{team, task, history?}`.
#[derive(Debug, Clone, Serialize)]
pub struct TaskShowAnswer {
    /// The team.
    pub team: String,
    /// The task.
    #[serde(serialize_with = "crate::shapes::task")]
    pub task: Task,
    /// Its events in order, superseded ones marked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<Vec<Recorded>>,
}
