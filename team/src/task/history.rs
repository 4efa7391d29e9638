//! `read-task-history`: the events of a task.

use crate::log::recorded::Recorded;
use crate::operation::prelude::*;
use crate::task::show::not_found;

operation! {
    /// Read the newest events of a task, oldest first, with superseded events marked
    "read-task-history": Reads(TaskHistory {
        /// Id of the task
        #[arg(value_name = "TASK")]
        task_id: String,
        /// Largest number of events, counted from the newest; 50 if absent. On the command line, 0 means all
        #[schemars(range(min = 1, max = 1000))]
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<usize>)]
        limit: Option<usize>,
        /// `next_cursor` of the previous page
        #[arg(long, value_name = "EVENT_ID")]
        cursor: Option<String>,
    }) -> TaskHistoryAnswer = |team, asked| team.task_history(&asked),
    refuses = [TaskNotFound, CursorUnknown]
}

/// The answer `{team, task_id, events, count, next_cursor}`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TaskHistoryAnswer {
    /// The team
    pub team: String,
    /// The task
    pub task_id: String,
    /// The newest events that name the task, oldest first, superseded ones marked
    pub events: Vec<Recorded>,
    /// Events on the page
    pub count: usize,
    /// Cursor of the next page, which has older events; `null` on the last page
    pub next_cursor: Option<String>,
}

impl Team {
    /// Returns the history of a task.
    pub fn task_history(&mut self, asked: &TaskHistory) -> Result<TaskHistoryAnswer> {
        let team = self.name().to_owned();
        names::check_known("task_id", &asked.task_id)?;
        self.query(|live, reader| {
            let id = &asked.task_id;
            if live.task(id)?.is_none() {
                return Err(not_found(&team, id).into());
            }
            let limit = page::limit(asked.limit, page::PAGE);
            let (events, more) = of_task(live, reader, id, asked.cursor.as_deref(), limit)?;
            let oldest = events.first().filter(|_| more);
            Ok(TaskHistoryAnswer {
                team: team.clone(),
                task_id: id.clone(),
                count: events.len(),
                next_cursor: oldest.map(|oldest| oldest.event.id.to_string()),
                events,
            })
        })
    }
}

/// Returns a page of the events that name a task. The flag is true if older events remain.
pub(crate) fn of_task(
    live: &Live,
    reader: &Reader,
    task_id: &str,
    cursor: Option<&str>,
    limit: usize,
) -> Result<(Vec<Recorded>, bool)> {
    let task = (RefKind::Task, task_id);
    let before = page::before(live, reader, task, cursor)?;
    let page = live.with_ref(task.0, task.1, before, limit)?;
    Ok((Recorded::all(live, reader, page.seqs)?, page.older))
}
