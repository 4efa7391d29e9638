//! `who`: lists each agent's tasks with their leases, its last event, its reports and its blockers. The cost depends on the
//! number of agents and unfinished tasks, not on the length of the log.

use crate::operation::prelude::*;
use crate::projections::worker::event::WorkerState;
use crate::task::report;

operation! {
    /// List each agent's tasks, leases, last event, reports and blockers
    "who": Reads(Who {
        /// Largest number of agents, at most 1000; 1000 if absent
        #[schemars(range(min = 1, max = 1_000))]
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<usize>)]
        limit: Option<usize>,
        /// `next_cursor` of the previous page
        #[arg(long, value_name = "AGENT")]
        cursor: Option<String>,
    }) -> WhoAnswer = |team, asked| team.who(&asked),
    refuses = [CursorUnknown]
}

const AGENTS_MAX: usize = 1_000;
/// Maximum number of tasks in each list of an agent.
const TASKS_MAX: usize = 20;
const DEPS_MAX: usize = 8;

/// The answer `{team, now, agents, count, live_claims, next_cursor, retired?}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WhoAnswer {
    /// Name of the team
    pub team: String,
    /// Time at which the leases are compared
    pub now: Timestamp,
    /// The agents, by name
    pub agents: Vec<WhoAgent>,
    /// Number of agents on the page
    pub count: usize,
    /// Number of live leases in the whole team
    pub live_claims: u64,
    /// Cursor of the next page; `null` on the last page
    pub next_cursor: Option<String>,
    /// Agents that were retired, sorted; only on the first page
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retired: Vec<String>,
}

/// An agent and its work
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WhoAgent {
    /// Name of the agent
    pub agent: String,
    /// State that the agent last reported; absent if it reported none
    pub state: Option<WorkerState>,
    /// Number of unacknowledged messages
    pub unread: u64,
    /// Number of unacknowledged posts in threads
    #[serde(default, skip_serializing_if = "crate::shapes::is_none_of")]
    pub unread_posts: u64,
    /// The agent's last event; `null` if there is none
    pub last_event: Option<LastEvent>,
    /// Tasks that the agent works on, in natural order
    pub working_on: Vec<WhoTask>,
    /// Number of tasks that the agent works on
    pub working_on_total: u64,
    /// The agent's other unfinished tasks, which wait
    pub waiting: Vec<WhoTask>,
    /// Number of waiting tasks
    pub waiting_total: u64,
}

/// An event in few words
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LastEvent {
    /// Seq of the event
    pub seq: u64,
    /// Kind of the event
    pub kind: String,
    /// Time of the event
    pub at: Timestamp,
}

/// A task of an agent
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WhoTask {
    /// Id of the task
    pub task_id: String,
    /// Subject of the task
    pub subject: Option<String>,
    /// Status of the task
    pub status: Status,
    /// Time of the last update
    pub updated_at: Timestamp,
    /// Fencing epoch of the claim
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u64>,
    /// End of the lease
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leased_until: Option<Timestamp>,
    /// Milliseconds until the lease ends; 0 if it has ended
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease_left_ms: Option<u64>,
    /// Last report on the task, in words
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported: Option<String>,
    /// Author of the report, if it is not the owner
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported_by: Option<String>,
    /// The first 8 tasks that the task waits for
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<WaitsFor>,
    /// Number of tasks that the task waits for
    #[serde(default, skip_serializing_if = "crate::shapes::is_zero")]
    pub waits_for_total: usize,
}

/// A task that another task waits for
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WaitsFor {
    /// Id of the task
    pub task_id: String,
    /// Status of the task; `unknown` if no task has that id yet
    pub status: Cow<'static, str>,
    /// Owner of the task
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
}

impl Team {
    /// Lists agents and their work.
    pub fn who(&mut self, who: &Who) -> Result<WhoAnswer> {
        let limit = page::within("limit", who.limit, AGENTS_MAX, AGENTS_MAX)?;
        let (team, now) = (self.name().to_owned(), self.now());
        self.query(|live, reader| {
            let mut names = membership::workers(live)?;
            if let Some(cursor) = &who.cursor {
                if !names.contains(cursor) {
                    return Err(page::unknown_cursor(cursor, "an agent").into());
                }
                names.retain(|name| name > cursor);
            }
            let more = page::cut(&mut names, limit);
            let agents = names.into_iter().map(|name| agent(live, reader, name, now));
            let agents = agents.collect::<Result<Vec<_>>>()?;
            let last = agents.last().filter(|_| more);
            Ok(WhoAnswer {
                team: team.clone(),
                now,
                count: agents.len(),
                live_claims: live.lease_count(now)?,
                next_cursor: last.map(|last| last.agent.clone()),
                retired: match who.cursor {
                    None => live.retired_agents()?,
                    Some(_) => Vec::new(),
                },
                agents,
            })
        })
    }
}

fn agent(live: &Live, reader: &Reader, name: String, now: Timestamp) -> Result<WhoAgent> {
    let filter = TaskFilter {
        status: Some(Status::InProgress),
        owner: Some(name.clone()),
        ..TaskFilter::default()
    };
    let briefs = |tasks: Vec<Task>| -> Result<Vec<WhoTask>> {
        let briefs = tasks.into_iter().map(|task| brief(live, &name, task, now));
        briefs.collect()
    };
    let counts = live.owned_counts(&name)?;
    Ok(WhoAgent {
        state: live.worker_status(&name)?.map(|noted| noted.what.state),
        unread: live.whole_agent(&name)?.unread,
        unread_posts: live.post_counts(&name)?.unread(),
        last_event: last_event(live, reader, &name)?,
        working_on: briefs(live.tasks(&filter, None, TASKS_MAX)?.tasks)?,
        working_on_total: counts.by_status[Status::InProgress as usize],
        waiting: briefs(live.waiting_tasks(&name, None, TASKS_MAX)?.tasks)?,
        waiting_total: live.waiting_count(&name)?,
        agent: name,
    })
}

fn last_event(live: &Live, reader: &Reader, name: &str) -> Result<Option<LastEvent>> {
    let Some(activity) = live.activity(name)? else {
        return Ok(None);
    };
    let event = page::event(live, reader, activity.seq)?;
    Ok(Some(LastEvent {
        seq: event.seq,
        kind: event.kind.into_owned(),
        at: activity.at,
    }))
}

fn brief(live: &Live, agent: &str, task: Task, now: Timestamp) -> Result<WhoTask> {
    let reported = report::words(&task);
    let reported_by = report::by_other(&task, agent).filter(|_| !reported.is_empty());
    let claim = task.claim();
    let until = claim.map(|claim| claim.leased_until);
    let left = |until: Timestamp| {
        u64::try_from(until.micros().saturating_sub(now.micros()) / 1_000).unwrap_or(0)
    };
    let open = live.open_deps(&task.deps)?;
    let waits_for = open.iter().take(DEPS_MAX).map(|dep| {
        let found = live.task(dep)?;
        Ok(WaitsFor {
            task_id: dep.clone(),
            status: found
                .as_ref()
                .map_or("unknown", |dep| dep.status.name())
                .into(),
            owner: found.and_then(|dep| dep.owner),
        })
    });
    Ok(WhoTask {
        waits_for: waits_for.collect::<Result<_>>()?,
        waits_for_total: open.len(),
        status: task.status,
        updated_at: task.updated_at,
        epoch: claim.map(|_| task.governed.epoch),
        leased_until: until,
        lease_left_ms: until.map(left),
        reported: (!reported.is_empty()).then_some(reported),
        reported_by,
        subject: task.subject,
        task_id: task.task_id,
    })
}
