//! Operations on tasks.

use super::operation::Op;
use crate::command::task_show::TaskShow;
use crate::failure::{Failure, Result};
use crate::refusal::{Code, Refusal};
use crate::team::Team;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// `read-task`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadTask {
    /// The task's id
    task_id: String,
}

/// `{task}`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TaskData {
    /// The task
    task: Value,
}

impl Op for ReadTask {
    type Data = TaskData;
    const NAME: &'static str = "read-task";
    const DOC: &'static str = "Read one task";
    const MUTATES: bool = false;

    fn run(self, team: &mut Team) -> Result<TaskData> {
        let shown = team.task_show(TaskShow {
            task_id: self.task_id,
            ..TaskShow::default()
        })?;
        let text = shown.task.to_json();
        let task = serde_json::from_str(text.as_str()).unwrap_or_default();
        Ok(TaskData { task })
    }

    fn without_team(&self, missing: Refusal) -> Result<TaskData> {
        Err(Failure::Refused(Refusal {
            code: Code::TaskNotFound,
            ..missing
        }))
    }
}
