//! `get-summary`: counts tasks and describes every worker. Progress of a worker is measured by its turns since the last
//! summary. So a summary of an open team records the baselines if they have changed.

use crate::operation::prelude::*;
use crate::projections::task::TaskCounts;
use crate::projections::worker::event::{StatusChange, WorkerState};
use crate::projections::worker::supervision::{Baseline, Baselines};

operation! {
    /// Count tasks and check every worker; progress is measured since the last summary
    "get-summary": Records(GetSummary {}) -> SummaryAnswer = Team::summary
}

/// Number of turns on one task after which a worker counts as not reporting.
const TURNS_MAX: u32 = 5;
/// Maximum number of baselines in one event.
const BASELINES_MAX: usize = 2_000;

/// The answer `{summary}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SummaryAnswer {
    /// The summary
    pub summary: Summary,
}

/// Counts of a team
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// Name of the team
    pub team_name: String,
    /// Number of workers
    pub worker_count: usize,
    /// Number of tasks per status; the counts add up to the total
    pub tasks: TaskNumbers,
    /// The workers
    pub workers: Vec<WorkerSummary>,
    /// Workers that are alive and working, but make no progress
    pub non_reporting_workers: Vec<String>,
    /// Duration of the summary
    pub performance: Performance,
}

/// Tasks by status
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskNumbers {
    /// Number of all tasks
    pub total: u64,
    /// Pending tasks
    pub pending: u64,
    /// Tasks that wait for other tasks
    pub blocked: u64,
    /// Tasks that were assigned to an owner
    pub assigned: u64,
    /// Tasks that their owner works on
    pub in_progress: u64,
    /// Completed tasks
    pub completed: u64,
    /// Failed tasks
    pub failed: u64,
    /// Canceled tasks
    pub canceled: u64,
}

/// A worker in a summary
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkerSummary {
    /// Name of the worker
    pub name: String,
    /// True if the worker's last heartbeat says that it is alive
    pub alive: bool,
    /// Time of the last heartbeat; `null` if there is none
    pub last_turn_at: Option<String>,
    /// Turns since the last summary, if the worker has stayed on one unfinished task; else 0
    pub turns_without_progress: u32,
}

/// Duration of a summary
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Performance {
    /// Total time
    pub total_ms: u64,
    /// Time for counting the tasks
    pub tasks_loaded_ms: u64,
    /// Time for reading the workers
    pub workers_polled_ms: u64,
    /// Number of tasks counted
    pub task_count: u64,
    /// Number of workers read
    pub worker_count: usize,
}

impl TaskNumbers {
    pub(crate) fn from_counts(counts: &TaskCounts) -> TaskNumbers {
        let of = |status: Status| counts.by_status.get(status as usize).copied().unwrap_or(0);
        TaskNumbers {
            total: counts.total(),
            pending: of(Status::Pending),
            blocked: of(Status::Blocked),
            assigned: of(Status::Assigned),
            in_progress: of(Status::InProgress),
            completed: of(Status::Completed),
            failed: of(Status::Failed),
            canceled: of(Status::Canceled),
        }
    }
    pub(crate) fn open(&self) -> u64 {
        self.pending + self.assigned + self.blocked + self.in_progress
    }
}

/// Data of a worker for a summary.
pub(crate) struct Polled {
    pub summary: WorkerSummary,
    pub working: bool,
    now: Baseline,
}

impl Polled {
    /// Returns true if the worker is alive and at work, but makes no progress.
    pub fn is_stalled(&self) -> bool {
        self.summary.alive && self.working && self.summary.turns_without_progress > TURNS_MAX
    }
}

/// Reads the data of every worker. Progress is measured from the baselines in `before`.
pub(crate) fn poll(
    live: &Live,
    before: impl Fn(&str) -> Result<Option<Baseline>>,
) -> Result<Vec<Polled>> {
    let mut all = Vec::new();
    for name in membership::workers(live)? {
        let heartbeat = live.heartbeat(&name)?;
        let status = live.worker_status(&name)?.map(|noted| noted.what);
        let said = status.as_ref();
        let now = Baseline {
            turn_count: heartbeat.as_ref().map_or(0, |noted| noted.what.turn_count),
            task_id: said.and_then(|said| said.current_task_id.clone()),
        };
        let working = said.map(|said| said.state) == Some(WorkerState::Working);
        let turns = turns_without_progress(live, status.as_ref(), &now, before(&name)?)?;
        all.push(Polled {
            summary: WorkerSummary {
                name,
                alive: heartbeat.as_ref().is_some_and(|noted| noted.what.alive),
                last_turn_at: heartbeat.map(|noted| noted.at.to_string()),
                turns_without_progress: turns,
            },
            working,
            now,
        });
    }
    Ok(all)
}

/// Returns the number of turns since the last summary; 0 if the worker has changed or finished its task.
fn turns_without_progress(
    live: &Live,
    status: Option<&StatusChange>,
    now: &Baseline,
    before: Option<Baseline>,
) -> Result<u32> {
    let (Some(status), Some(before), Some(id)) = (status, before, &now.task_id) else {
        return Ok(0);
    };
    if status.state != WorkerState::Working || before.task_id.as_ref() != Some(id) {
        return Ok(0);
    }
    let unfinished = [Status::Pending, Status::Assigned, Status::InProgress];
    let status = live.task(id)?.map(|task| task.status);
    match status.is_some_and(|status| unfinished.contains(&status)) {
        true => Ok(now.turn_count.saturating_sub(before.turn_count)),
        false => Ok(0),
    }
}

/// Returns a worker's recorded baseline.
pub(crate) fn recorded(live: &Live, worker: &str) -> Result<Option<Baseline>> {
    Ok(live.baseline(worker)?.map(|noted| noted.what))
}

impl Team {
    /// Summarizes the team and records new baselines for the next summary.
    pub fn summary(&mut self, summary: GetSummary) -> Result<SummaryAnswer> {
        let clock = Arc::clone(&self.options.clock);
        let start = clock.now();
        let mut answer = self.execute(summary)?;
        answer.summary.performance.total_ms = millis(start, clock.now());
        Ok(answer)
    }
}

fn millis(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from((to.micros() - from.micros()) / 1000).unwrap_or(0)
}

impl Command for GetSummary {
    /// The baseline of each worker, for the next summary.
    type Decided = BTreeMap<String, Baseline>;
    type Answer = SummaryAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        // In a closed team the baselines stay unchanged.
        CommandTerms::new(Authority::Anyone).when_closed()
    }

    fn decide(&self, _: &Ctx, live: &Live) -> Result<Decision<Self::Decided>> {
        let mut before = BTreeMap::new();
        let mut moved = BTreeMap::new();
        for polled in poll(live, |worker| recorded(live, worker))? {
            let name = polled.summary.name;
            let old = recorded(live, &name)?;
            if old.clone().unwrap_or_default() != polled.now {
                moved.insert(name.clone(), polled.now);
            }
            before.extend(old.map(|old| (name, old)));
        }
        if live.is_closed()? {
            moved.clear();
        }
        let mut events = Vec::new();
        while !moved.is_empty() {
            let rest = moved.keys().nth(BASELINES_MAX).cloned();
            let rest = rest.map(|name| moved.split_off(&name)).unwrap_or_default();
            events.push(Baselines { workers: moved }.event(DEFAULT_ACTOR));
            moved = rest;
        }
        Ok(Decision::Granted(before, events))
    }

    fn answer(&self, before: &Self::Decided, after: &After<'_>) -> Result<SummaryAnswer> {
        let clock = &after.ctx.clock;
        let start = clock.now();
        let tasks = TaskNumbers::from_counts(&after.live.task_counts()?);
        let counted = clock.now();
        let polled = poll(after.live, |worker| Ok(before.get(worker).cloned()))?;
        let seen = clock.now();
        let stalled = polled.iter().filter(|polled| polled.is_stalled());
        Ok(SummaryAnswer {
            summary: Summary {
                team_name: after.team.to_owned(),
                worker_count: polled.len(),
                tasks,
                non_reporting_workers: stalled.map(|polled| polled.summary.name.clone()).collect(),
                performance: Performance {
                    total_ms: 0,
                    tasks_loaded_ms: millis(start, counted),
                    workers_polled_ms: millis(counted, seen),
                    task_count: tasks.total,
                    worker_count: polled.len(),
                },
                workers: polled.into_iter().map(|polled| polled.summary).collect(),
            },
        })
    }
}
