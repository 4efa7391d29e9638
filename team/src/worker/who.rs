//! `who`: who does what. For each agent what it works on and until when, what it did last, what it reported and what it
//! waits for. Reads as much as there are agents and tasks in their hands, whatever lies behind them.

use crate::operation::prelude::*;
use crate::projections::worker::event::WorkerState;
use crate::task::report;

operation! {
    /// Read who does what: tasks, leases, last events, what was reported and what blocks
    "who": Reads(Who {
        /// Most agents on the page; else 1,000
        #[schemars(range(min = 1, max = 1_000))]
        limit: Option<usize>,
        /// Behind which agent to go on: the next_cursor of the page before
        cursor: Option<String>,
    }) -> WhoAnswer = |team, asked| team.who(&asked)
}

const AGENTS_MAX: usize = 1_000;
/// Tasks of each list of an agent.
const TASKS_MAX: usize = 20;
const DEPS_MAX: usize = 8;

/// `{team, now, agents, count, live_claims, next_cursor}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WhoAnswer {
    /// The team
    pub team: String,
    /// The moment for which leases are shown
    pub now: Timestamp,
    /// The agents, by name
    pub agents: Vec<WhoAgent>,
    /// How many are on the page
    pub count: usize,
    /// Leases of the whole team that run now
    pub live_claims: u64,
    /// The last agent of the page while more remain
    pub next_cursor: Option<String>,
}

/// What an agent does
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WhoAgent {
    /// The agent
    pub agent: String,
    /// What it said that it does, if it ever did
    pub state: Option<WorkerState>,
    /// Its messages that it has not acknowledged
    pub unread: u64,
    /// Posts in threads that it has not acknowledged
    #[serde(default, skip_serializing_if = "crate::shapes::is_none_of")]
    pub unread_posts: u64,
    /// What it did last; `null` where it never did anything
    pub last_event: Option<LastEvent>,
    /// What it works on, in natural order
    pub working_on: Vec<WhoTask>,
    /// How many tasks that are
    pub working_on_total: u64,
    /// Its other unfinished tasks, which wait for something
    pub waiting: Vec<WhoTask>,
    /// How many tasks that are
    pub waiting_total: u64,
}

/// An event in few words
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LastEvent {
    /// Its seq
    pub seq: u64,
    /// Its kind
    pub kind: String,
    /// When it was recorded
    pub at: Timestamp,
}

/// A task in somebody's hands
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WhoTask {
    /// Its id
    pub task_id: String,
    /// What it is about
    pub subject: Option<String>,
    /// Its status
    pub status: Status,
    /// When it was last updated
    pub updated_at: Timestamp,
    /// The number of the claim on it
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u64>,
    /// When its lease ends
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leased_until: Option<Timestamp>,
    /// Milliseconds until then; 0 where the lease ran out
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease_left_ms: Option<u64>,
    /// What was reported of it, in words
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported: Option<String>,
    /// Author of the report, if it is another agent
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported_by: Option<String>,
    /// Tasks that it waits for, the first 8
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<WaitsFor>,
    /// How many these are
    #[serde(default, skip_serializing_if = "crate::shapes::is_zero")]
    pub waits_for_total: usize,
}

/// A task that another one waits for
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WaitsFor {
    /// Its id
    pub task_id: String,
    /// Its status; `unknown` where nobody has created it yet
    pub status: Cow<'static, str>,
    /// Who has it
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
}

impl Team {
    /// Who does what.
    pub fn who(&mut self, who: &Who) -> Result<WhoAnswer> {
        let limit = page::within("limit", who.limit, AGENTS_MAX, AGENTS_MAX)?;
        let (team, now) = (self.name().to_owned(), self.now());
        self.query(|live, reader| {
            let mut names = membership::workers(live)?;
            if let Some(cursor) = &who.cursor {
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
                agents,
            })
        })
    }
}

fn agent(live: &Live, reader: &Reader, name: String, now: Timestamp) -> Result<WhoAgent> {
    let filter = TaskFilter {
        status: Some(Status::InProgress),
        owner: Some(name.clone()),
    };
    let briefs = |tasks: Vec<Task>| -> Result<Vec<WhoTask>> {
        let briefs = tasks.into_iter().map(|task| brief(live, &name, task, now));
        briefs.collect()
    };
    let counts = live.owned_counts(&name)?;
    Ok(WhoAgent {
        state: live.worker_status(&name)?.map(|noted| noted.what.state),
        unread: live.agent(&name)?.unread,
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
