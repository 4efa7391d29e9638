//! `task show`: one task, and what happened to it.

use crate::Recorded;
use crate::failure::Result;
use crate::names;
use crate::projections::Live;
use crate::projections::Task;
use crate::refusal::{Code, Refusal};
use crate::team::Team;
use schemars::JsonSchema;
use serde::Serialize;
use teamlog_engine::{Reader, RefKind};

/// What `task show` is asked.
#[derive(Debug, Clone, Default)]
pub struct TaskShow {
    /// The task.
    pub task_id: String,
    /// Also every event that names it.
    pub history: bool,
}

/// `{team, task, history?}`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
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

impl Team {
    /// One task.
    ///
    /// # Errors
    /// `task_not_found`; the log's.
    pub fn task_show(&mut self, show: TaskShow) -> Result<TaskShowAnswer> {
        let team = self.name().to_owned();
        names::check_known("task_id", &show.task_id)?;
        self.query(|live, reader| {
            let task = live
                .task(&show.task_id)?
                .ok_or_else(|| not_found(&team, &show.task_id))?;
            let history = match show.history {
                true => Some(history(live, reader, &show.task_id)?),
                false => None,
            };
            Ok(TaskShowAnswer {
                team: team.clone(),
                task,
                history,
            })
        })
    }
}

fn history(live: &Live, reader: &Reader, task: &str) -> Result<Vec<Recorded>> {
    let page = live.with_ref(RefKind::Task, task, None, usize::MAX)?;
    page.seqs
        .into_iter()
        .map(|seq| Recorded::marked(live, super::event(live, reader, seq)?))
        .collect()
}

fn not_found(team: &str, task: &str) -> Refusal {
    Refusal::new(
        Code::TaskNotFound,
        format!("task_id must name a task of {team}, but is {task:?}"),
    )
    .field("task_id")
    .detail("task_id", task)
    .hint(format!("list them with: teamlog tasks {team}"))
}
