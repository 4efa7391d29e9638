//! `reopen-task`: a failed task is to be done after all.

use crate::prelude::*;
use crate::projections::task::event::TaskAct;
use crate::task::blocking;
use crate::task::create::{TaskAnswer, record};
use crate::task::holding::{Scene, check_expected};

operation! {
    /// Make a failed task pending again
    "reopen-task": Records(TaskReopen) -> TaskAnswer as task_reopen,
    refuses = [TaskNotFound, InvalidTransition, VersionConflict]
}

/// What `reopen-task` is asked.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskReopen {
    /// The task, which failed
    pub task_id: String,
    /// Who reopens it
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// The version that the task must have
    #[schemars(range(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<u64>,
}

impl Command for TaskReopen {
    type Decided = ();
    type Answer = TaskAnswer;

    fn decide(&self, live: &Live, now: Timestamp) -> Result<Decision<()>> {
        if let Some(worker) = &self.worker {
            names::check_known("worker", worker)?;
        }
        check_expected(self.expected_version)?;
        let scene = Scene::of(live, &self.task_id, now)?;
        scene.decision(|scene| {
            if scene.task.status != Status::Failed {
                let message = format!(
                    "task {} must have failed to be reopened, but is {}",
                    scene.task.task_id,
                    scene.task.status.name()
                );
                return Err(scene.refusal(Code::InvalidTransition, message).into());
            }
            scene.check_version(self.expected_version)?;
            let actor = self.worker.as_deref().unwrap_or(DEFAULT_ACTOR);
            let owner = scene.task.owner.clone();
            scene.act(TaskAct::Reopened, actor, owner.as_deref());
            let Scene { task, events } = scene;
            task.owner = None;
            task.status = Status::Pending;
            blocking::block(live, task, DEFAULT_ACTOR, events)
        })
    }

    fn answer(&self, (): &(), after: &After<'_>) -> Result<TaskAnswer> {
        Ok(TaskAnswer {
            task: record(after.live, &self.task_id, after.now)?,
        })
    }
}
