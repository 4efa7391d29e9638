//! `read-idle-state`: who has nothing to do. The state of a worker is the later of two: what it said last of itself,
//! and what the monitor's snapshot says of it.

use crate::log::team_event::TeamEvent;
use crate::operation::prelude::*;
use crate::projections::worker::event::WorkerState;
use crate::worker::snapshot as monitor_snapshot;

operation! {
    /// Read which workers have nothing to do, and since when
    "read-idle-state": Reads(ReadIdle {}) -> IdleAnswer = Team::idle_state
}

/// Who has nothing to do
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct IdleAnswer {
    /// The team
    pub team_name: String,
    /// Its workers
    pub worker_count: usize,
    /// How many of them are idle
    pub idle_worker_count: usize,
    /// Who they are
    pub idle_workers: Vec<String>,
    /// The others
    pub non_idle_workers: Vec<String>,
    /// Whether there are workers and all of them are idle
    pub all_workers_idle: bool,
    /// What told of each worker's last becoming idle; `null` where nothing did
    pub last_idle_transition_by_worker: BTreeMap<String, Option<Told>>,
    /// The last report that all were idle
    pub last_all_workers_idle_event: Option<Told>,
    /// What this rests on
    pub source: IdleSource,
}

/// What an idle state rests on
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct IdleSource {
    /// Whether workers were looked at: always
    pub summary_available: bool,
    /// Whether there is a monitor's snapshot
    pub snapshot_available: bool,
    /// How many recent team events there are, up to 50
    pub recent_event_count: u64,
}

/// A team event, in brief
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Told {
    /// Its id
    pub event_id: String,
    /// Its type
    #[serde(rename = "type")]
    pub kind: String,
    /// Who it is about
    pub worker: String,
    /// The task concerned
    pub task_id: Option<String>,
    /// When it was recorded
    pub created_at: String,
    /// Why
    pub reason: Option<String>,
    /// What its recipient is to do
    pub intent: Option<String>,
    /// The state
    pub state: Option<String>,
    /// The state before
    pub prev_state: Option<String>,
    /// The type that it was reported as
    pub source_type: Option<String>,
    /// How many workers there were
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
/// No more of them count as recent.
const RECENT_MAX: u64 = 50;

impl Told {
    /// What an event that is kept as the last of its sort says.
    fn of(event: &Event<'_>, team: &str) -> Option<Told> {
        let said = TeamEvent::of(event, team)?.canonical();
        Some(Told {
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

    pub(crate) fn at(live: &Live, reader: &Reader, seq: Option<u64>) -> Result<Option<Told>> {
        let event = seq.map(|seq| page::event(live, reader, seq)).transpose()?;
        Ok(event.and_then(|event| Told::of(&event, &reader.identity().name)))
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
        let told = Told::at(live, reader, live.last_idle(&name)?)?;
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
        last_all_workers_idle_event: Told::at(live, reader, all_idle)?,
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
    /// Who has nothing to do.
    pub fn idle_state(&mut self, _: ReadIdle) -> Result<IdleAnswer> {
        self.query(idle)
    }
}
