//! `traces`: the traces of the newest events, newest first. Examines a bounded number of events, regardless of the length of
//! the log.

use crate::log::replay::Replay;
use crate::operation::prelude::*;

/// Default number of traces.
const LISTED: usize = 20;
const LISTED_MAX: usize = 200;
/// Number of newest events in which the traces are searched.
const LOOKED_AT: u64 = 10_000;
/// Maximum number of events that are counted per trace.
const COUNTED: usize = 1_000;
/// Number of newest events per trace whose actors are read.
const READ: usize = 50;
/// Age of the last event after which a trace with a task in progress is no longer `running`: a day.
const QUIET_MICROS: i64 = 24 * 3_600 * 1_000_000;

operation! {
    /// List the traces of the newest events, most recent first
    "list-traces": Reads(Traces {
        /// Largest number of traces, at most 200; 20 if absent
        #[schemars(range(min = 1, max = 200))]
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<usize>)]
        limit: Option<usize>,
    }) -> TracesAnswer = |team, asked| team.traces(&asked)
}

/// The answer `{team, traces, count, more}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TracesAnswer {
    /// The team.
    pub team: String,
    /// The traces, ordered by their newest event, newest first.
    pub traces: Vec<TraceListed>,
    /// Number of traces.
    pub count: usize,
    /// True if older traces may exist, beyond the limit or before the newest 10,000 events.
    pub more: bool,
}

/// Summary of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TraceListed {
    /// Id of the trace.
    pub trace_id: String,
    /// Subject of the first task that the trace's events name; absent without such a task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Time of the trace's first event. If the trace has more than 1,000 events, time of the first of the newest 1,000.
    pub first_at: Timestamp,
    /// Time of the trace's last event.
    pub last_at: Timestamp,
    /// Milliseconds from the first event to the last.
    pub span_ms: u64,
    /// Number of the trace's events, at most 1,000.
    pub events: usize,
    /// True if the trace has more than 1,000 events.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub events_more: bool,
    /// Actors of the trace's newest 50 events, sorted.
    pub agents: Vec<String>,
    /// Outcome of the tasks that the trace's newest 50 events name.
    pub outcome: TraceOutcome,
}

/// Outcome of the tasks of a trace
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TraceOutcome {
    /// All tasks are completed
    Completed,
    /// All tasks ended, and at least one failed
    Failed,
    /// All tasks ended, none failed, and at least one was canceled
    Canceled,
    /// At least one task is in progress, and the last event is at most a day old
    Running,
    /// At least one task is unfinished, and the trace is not running
    Open,
    /// The trace has no tasks
    None,
}

impl TraceOutcome {
    /// Returns the outcome of a trace whose last event is `quiet` microseconds old.
    fn new(statuses: &[Status], quiet: i64) -> TraceOutcome {
        if statuses.is_empty() {
            TraceOutcome::None
        } else if statuses.contains(&Status::InProgress) && quiet <= QUIET_MICROS {
            TraceOutcome::Running
        } else if statuses.iter().any(|status| !status.is_final()) {
            TraceOutcome::Open
        } else if statuses.contains(&Status::Failed) {
            TraceOutcome::Failed
        } else if statuses.contains(&Status::Canceled) {
            TraceOutcome::Canceled
        } else {
            TraceOutcome::Completed
        }
    }
}

impl Team {
    /// Returns the traces of the newest events.
    pub fn traces(&mut self, traces: &Traces) -> Result<TracesAnswer> {
        let limit = page::within("limit", traces.limit, LISTED, LISTED_MAX)?;
        let (mut found, mut oldest) = (Vec::<String>::new(), 1);
        let newest = Replay {
            reverse: true,
            limit: Some(LOOKED_AT),
            ..Replay::default()
        };
        self.replay(newest, &mut |event, _| {
            oldest = event.seq;
            if let Some(trace) = event.refs.get(RefKind::Trace)
                && !found.iter().any(|known| known == trace)
            {
                found.push(trace.to_owned());
            }
            page::goes_on(found.len() <= limit)
        })?;
        let more = found.len() > limit || oldest > 1;
        found.truncate(limit);
        let (team, now) = (self.name().to_owned(), self.now());
        self.survey(|live, reader| {
            let mut traces = Vec::with_capacity(found.len());
            for trace in &found {
                traces.extend(listed(live, reader, trace, now)?);
            }
            Ok(TracesAnswer {
                team: team.clone(),
                count: traces.len(),
                traces,
                more,
            })
        })
    }
}

/// Returns the summary of a trace. Returns `None` if the state does not contain the trace, which means that the trace is newer than
/// the state.
fn listed(
    live: &Live,
    reader: &Reader,
    trace: &str,
    now: Timestamp,
) -> Result<Option<TraceListed>> {
    let page = live.with_ref(RefKind::Trace, trace, None, COUNTED)?;
    let (Some(first), Some(last)) = (page.seqs.first(), page.seqs.last()) else {
        return Ok(None);
    };
    let opening = page::event(live, reader, *first)?;
    let first = opening.created_at;
    let last = page::event(live, reader, *last)?.created_at;
    let (mut agents, mut tasks) = (BTreeSet::new(), BTreeSet::new());
    let first_task = opening.refs.get(RefKind::Task).map(str::to_owned);
    for seq in page.seqs.iter().rev().take(READ) {
        let event = page::event(live, reader, *seq)?;
        tasks.extend(event.refs.get(RefKind::Task).map(str::to_owned));
        agents.insert(event.actor.into_owned());
    }
    let mut statuses = Vec::with_capacity(tasks.len());
    for task in &tasks {
        statuses.extend(live.task(task)?.map(|task| task.status));
    }
    let titled = first_task.as_ref().or(tasks.first());
    let titled = titled.map(|task| live.task(task)).transpose()?.flatten();
    Ok(Some(TraceListed {
        trace_id: trace.to_owned(),
        title: titled.and_then(|task| task.subject),
        first_at: first,
        last_at: last,
        span_ms: u64::try_from((last.micros() - first.micros()) / 1_000).unwrap_or(0),
        events: page.seqs.len(),
        events_more: page.older,
        agents: agents.into_iter().collect(),
        outcome: TraceOutcome::new(&statuses, now.micros() - last.micros()),
    }))
}
