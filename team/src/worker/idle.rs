//! `read-idle-state`: returns the idle workers. A worker's state comes from its last status or from the monitor's
//! snapshot, whichever is newer.

use crate::log::team_event::TeamEvent;
use crate::operation::prelude::*;
use crate::projections::worker::event::WorkerState;
use crate::worker::snapshot as monitor_snapshot;

operation! {
    /// Read which workers are idle, and since when
    "read-idle-state": Reads(ReadIdle {}) -> IdleAnswer = Team::idle_state
}

/// Idle workers of a team
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IdleAnswer {
    /// Name of the team
    pub team_name: String,
    /// Number of workers
    pub worker_count: usize,
    /// Number of idle workers
    pub idle_worker_count: usize,
    /// The idle workers
    pub idle_workers: Vec<String>,
    /// The other workers
    pub non_idle_workers: Vec<String>,
    /// True if the team has workers and all of them are idle
    pub all_workers_idle: bool,
    /// The last event that reported each worker as idle; `null` if there is none
    pub last_idle_transition_by_worker: BTreeMap<String, Option<TeamEventBrief>>,
    /// The last report that all workers were idle
    pub last_all_workers_idle_event: Option<TeamEventBrief>,
    /// Data that the idle state is based on
    pub source: IdleSource,
}

/// Data that an idle state is based on
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IdleSource {
    /// Always true: workers are always counted
    pub summary_available: bool,
    /// True if there is a monitor snapshot
    pub snapshot_available: bool,
    /// Number of recent team events, up to 50
    pub recent_event_count: u64,
}

/// A team event, in brief
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TeamEventBrief {
    /// Id of the event
    pub event_id: String,
    /// Type of the event
    #[serde(rename = "type")]
    pub kind: String,
    /// The worker that the event concerns
    pub worker: String,
    /// Task that the event concerns
    pub task_id: Option<String>,
    /// Time at which the event was recorded
    pub created_at: String,
    /// Reason given in the event
    pub reason: Option<String>,
    /// Action that the recipient should take
    pub intent: Option<String>,
    /// The worker's new state
    pub state: Option<String>,
    /// The worker's previous state
    pub prev_state: Option<String>,
    /// Type under which the event was reported
    pub source_type: Option<String>,
    /// Number of workers at that time
    pub worker_count: Option<u64>,
}

const TEAM_EVENTS: [&str; 8] = [
    "worker_event_reported",
    "worker_status_changed",
    "message_sent",
    "task_completed",
    "task_failed",
    "approval_recorded",
    "shutdown_acked",
    "shutdown_gated",
];
/// Maximum number of team events that count as recent.
const RECENT_MAX: u64 = 50;

impl TeamEventBrief {
    /// Returns a team event in brief; `None` if the log's event is not for brokers. The team event has its canonical form.
    fn from_event(event: &Event<'_>, team: &str) -> Option<TeamEventBrief> {
        let said = TeamEvent::from_event(event, team)?.canonical();
        Some(TeamEventBrief {
            event_id: said.event_id,
            kind: said.kind,
            worker: said.worker,
            task_id: said.task_id,
            created_at: said.created_at,
            reason: said.reason,
            intent: said.intent,
            state: said.state,
            prev_state: said.prev_state,
            source_type: said.source_type,
            worker_count: said.worker_count,
        })
    }

    pub(crate) fn at(
        live: &Live,
        reader: &Reader,
        seq: Option<u64>,
    ) -> Result<Option<TeamEventBrief>> {
        let event = seq.map(|seq| page::event(live, reader, seq)).transpose()?;
        Ok(event.and_then(|event| TeamEventBrief::from_event(&event, &reader.identity().name)))
    }
}

pub(crate) fn idle(live: &Live, reader: &Reader) -> Result<IdleAnswer> {
    let workers = membership::workers(live)?;
    let seen = monitor_snapshot::last(live, reader)?;
    let source = IdleSource {
        summary_available: true,
        snapshot_available: seen.is_some(),
        recent_event_count: recent(live)?,
    };
    let (snapshot, seen_at) = seen.unwrap_or_default();
    let states = &snapshot.worker_state_by_name;
    let worker_count = workers.len();
    let names: BTreeSet<String> = workers.into_iter().chain(states.keys().cloned()).collect();
    let (mut idle_workers, mut others) = (Vec::new(), Vec::new());
    let mut last = BTreeMap::new();
    for name in names {
        let said = live.worker_status(&name)?;
        let said = said.filter(|said| !states.contains_key(&name) || said.seq > seen_at);
        let is_idle = match said {
            Some(said) => said.what.state == WorkerState::Idle,
            None => states.get(&name).and_then(Value::as_str) == Some(WorkerState::Idle.name()),
        };
        let told = TeamEventBrief::at(live, reader, live.last_idle(&name)?)?;
        last.insert(name.clone(), told);
        match is_idle {
            true => idle_workers.push(name),
            false => others.push(name),
        }
    }
    let all_idle = live.last_reported("all_workers_idle")?;
    Ok(IdleAnswer {
        team_name: reader.identity().name.clone(),
        worker_count,
        idle_worker_count: idle_workers.len(),
        all_workers_idle: !idle_workers.is_empty() && others.is_empty(),
        idle_workers,
        non_idle_workers: others,
        last_idle_transition_by_worker: last,
        last_all_workers_idle_event: TeamEventBrief::at(live, reader, all_idle)?,
        source,
    })
}

fn recent(live: &Live) -> Result<u64> {
    let mut count = 0;
    for kind in TEAM_EVENTS {
        count += live.count_of(kind)?;
    }
    Ok(count.min(RECENT_MAX))
}

impl Team {
    /// Returns the idle workers.
    pub fn idle_state(&mut self, _: ReadIdle) -> Result<IdleAnswer> {
        self.query(idle)
    }
}
