//! `task show`: one task and its history.

use crate::log::recorded::Recorded;
use crate::projections::worker::ApprovalShown;
use crate::task::approval;
use crate::task::history;
use crate::task::prelude::*;
use crate::thread::comment::{self, Comments};

operation! {
    /// Show one task, and on request its newest events
    "show-task": Reads(TaskShow {
        /// Id of the task
        #[arg(value_name = "TASK")]
        task_id: String,
        /// Also show the newest events of the task, with superseded ones marked
        #[serde(default)]
        #[arg(long)]
        history: bool,
        /// Largest number of events, counted from the newest; 50 if absent. On the command line, 0 means all
        #[schemars(range(min = 1, max = 1000))]
        #[arg(long, value_name = "N", requires = "history", value_parser = crate::argv::whole::<usize>)]
        limit: Option<usize>,
        /// `next_cursor` of the previous page
        #[arg(long, value_name = "EVENT_ID", requires = "history")]
        cursor: Option<String>,
    }) -> TaskShowAnswer = Team::task_show,
    refuses = [TaskNotFound, CursorUnknown]
}

/// The answer `{team, task, failed_dependencies?, unknown_dependencies?, approval?, comments?, lease_expired?, leader, history?, next_cursor?}`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TaskShowAnswer {
    /// The team.
    pub team: String,
    /// The task.
    #[serde(
        serialize_with = "crate::shapes::task",
        deserialize_with = "crate::shapes::read_task"
    )]
    pub task: Task,
    /// Dependencies that failed or were canceled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_dependencies: Vec<String>,
    /// Dependencies that do not exist.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_dependencies: Vec<String>,
    /// The last decision of a reviewer on the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalShown>,
    /// The newest comments on the task, and their number; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comments: Option<Comments>,
    /// True if the lease of the task's claim has expired but no event records the expiry yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lease_expired: bool,
    /// The agent that gets messages to the leader of the team.
    #[serde(default)]
    pub leader: String,
    /// Newest events of the task, oldest first, superseded ones marked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<Vec<Recorded>>,
    /// Cursor of the next page of the history: the id of the oldest event shown; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl Team {
    /// Returns one task.
    pub fn task_show(&mut self, show: TaskShow) -> Result<TaskShowAnswer> {
        let (team, now) = (self.name().to_owned(), self.now());
        names::check_known("task_id", &show.task_id)?;
        self.query(|live, reader| {
            let task = live.task(&show.task_id)?;
            let task = task.ok_or_else(|| not_found(&team, &show.task_id))?;
            let unmet = blocking::unmet_dependencies(live, &task)?;
            let mut answer = TaskShowAnswer {
                team: team.clone(),
                failed_dependencies: unmet.failed,
                unknown_dependencies: unmet.unknown,
                approval: approval::last(live, &show.task_id)?,
                comments: comment::newest(live, reader, &show.task_id)?,
                lease_expired: task.lease_expired(now),
                leader: membership::leader(live)?,
                task,
                history: None,
                next_cursor: None,
            };
            if show.history {
                let limit = page::limit(show.limit, page::PAGE);
                let (id, cursor) = (&show.task_id, show.cursor.as_deref());
                let (events, more) = history::of_task(live, reader, id, cursor, limit)?;
                let oldest = events.first().filter(|_| more);
                answer.next_cursor = oldest.map(|oldest| oldest.event.id.to_string());
                answer.history = Some(events);
            }
            Ok(answer)
        })
    }
}

/// Returns the refusal for an unknown task.
pub(crate) fn not_found(team: &str, task: &str) -> Refusal {
    let message = format!("no task {task:?} in team {team}");
    Refusal::new(Code::TaskNotFound, message)
        .field("task_id")
        .detail("task_id", task)
}
