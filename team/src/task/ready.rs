//! `ready`: lists the tasks that an agent can start now, most urgent first.

use crate::task::listed;
use crate::task::prelude::*;

operation! {
    /// List the tasks that an agent can start now, most urgent first
    "list-ready-tasks": Reads(Ready {
        /// Only tasks that this agent may take: its own tasks and unassigned tasks
        #[arg(long, value_name = "AGENT")]
        agent: Option<String>,
        /// Only tasks with this label
        #[arg(long, value_name = "LABEL")]
        label: Option<String>,
        /// Only parts of this task
        #[arg(long, value_name = "TASK")]
        parent: Option<String>,
        /// Largest number of tasks; 50 if absent. On the command line, 0 means all
        #[schemars(range(min = 1, max = 1000))]
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<usize>)]
        limit: Option<usize>,
        /// `next_cursor` of the previous page
        #[arg(long, value_name = "TASK")]
        cursor: Option<String>,
    }) -> ReadyAnswer = |team, asked| team.ready(&asked),
    refuses = [WorkerNotFound, CursorUnknown]
}

/// The answer `{team, agent?, tasks, count, total, next_cursor}`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ReadyAnswer {
    /// The team.
    pub team: String,
    /// Agent of the request, if given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The tasks of the page: most urgent first, then oldest, then in natural order of ids. A task has the mark
    /// `lease_expired` if its lease has expired but no event records the expiry yet.
    #[schemars(with = "Vec<Task>")]
    pub tasks: Vec<Listed>,
    /// Number of tasks on the page.
    pub count: usize,
    /// Number of all tasks that an agent can start.
    pub total: u64,
    /// Cursor of the next page: the last id of this page; `null` on the last page.
    pub next_cursor: Option<String>,
}

impl Team {
    /// Returns the tasks that agents can start now, in the order in which `claim-next-task` grants them.
    pub fn ready(&mut self, ready: &Ready) -> Result<ReadyAnswer> {
        let (team, now) = (self.name().to_owned(), self.now());
        let limit = page::limit(ready.limit, page::PAGE);
        names::check_known_given([("cursor", &ready.cursor)])?;
        self.query(|live, _| {
            let agent = ready.agent.as_deref();
            if let Some(agent) = agent {
                membership::check(live, "agent", agent)?;
            }
            // The cursor's task keeps its place in the order even if an agent claimed it after the previous page.
            let after = match &ready.cursor {
                None => None,
                Some(cursor) => {
                    let unknown = || page::unknown_cursor(cursor, "the id of a task");
                    Some(live.task(cursor)?.ok_or_else(unknown)?)
                }
            };
            let wanted = listed::wanted(ready.label.as_ref(), ready.parent.as_ref())?;
            let page = match wanted == TaskFilter::default() {
                true => listed::can_start(live, agent, after.as_ref(), limit, now)?,
                false => listed::can_start_of(live, agent, &wanted, after.as_ref(), limit, now)?,
            };
            let last = page.tasks.last().filter(|_| page.more);
            Ok(ReadyAnswer {
                team: team.clone(),
                agent: ready.agent.clone(),
                count: page.tasks.len(),
                total: page.total,
                next_cursor: last.map(|last| last.task_id.clone()),
                tasks: Listed::all(page.tasks, now),
            })
        })
    }
}
