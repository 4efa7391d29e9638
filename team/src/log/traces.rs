//! `traces`: the traces of the newest events, newest first. Examines a bounded number of events, however long the log
//! is.

use crate::log::replay::Replay;
use crate::operation::prelude::*;

/// Default number of traces.
const LISTED: usize = 20;
const LISTED_MAX: usize = 200;
/// Newest events in which traces are looked for.
const LOOKED_AT: u64 = 10_000;
/// Maximum number of events of a trace that are counted.
const COUNTED: usize = 1_000;
/// Newest events of a trace whose actors are read.
const READ: usize = 50;

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
    /// The traces, the one with the newest event first.
    pub traces: Vec<TraceListed>,
    /// Number of traces.
    pub count: usize,
    /// True if there may be older traces: beyond the limit, or before the newest 10,000 events.
    pub more: bool,
}

/// Summary of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TraceListed {
    /// Id of the trace.
    pub trace_id: String,
    /// Time of its first event; of a trace with more than 1,000 events, the first of the newest 1,000.
    pub first_at: Timestamp,
    /// Time of its last event.
    pub last_at: Timestamp,
    /// Milliseconds between the two.
    pub span_ms: u64,
    /// Number of events, at most 1,000.
    pub events: usize,
    /// True if it has more events.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub events_more: bool,
    /// Actors of its newest 50 events, sorted.
    pub agents: Vec<String>,
    /// Outcome of the tasks of its newest 50 events.
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
    /// At least one task is unfinished
    Running,
    /// The trace has no tasks
    None,
}

impl TraceOutcome {
    fn from_statuses(statuses: &[Status]) -> TraceOutcome {
        if statuses.is_empty() {
            TraceOutcome::None
        } else if statuses.iter().any(|status| !status.is_final()) {
            TraceOutcome::Running
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
        let team = self.name().to_owned();
        self.survey(|live, reader| {
            let mut traces = Vec::with_capacity(found.len());
            for trace in &found {
                traces.extend(listed(live, reader, trace)?);
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

/// Returns a summary; `None` if the state does not have the trace yet because it was recorded after the state was read.
fn listed(live: &Live, reader: &Reader, trace: &str) -> Result<Option<TraceListed>> {
    let page = live.with_ref(RefKind::Trace, trace, None, COUNTED)?;
    let (Some(first), Some(last)) = (page.seqs.first(), page.seqs.last()) else {
        return Ok(None);
    };
    let first = page::event(live, reader, *first)?.created_at;
    let last = page::event(live, reader, *last)?.created_at;
    let (mut agents, mut tasks) = (BTreeSet::new(), BTreeSet::new());
    for seq in page.seqs.iter().rev().take(READ) {
        let event = page::event(live, reader, *seq)?;
        tasks.extend(event.refs.get(RefKind::Task).map(str::to_owned));
        agents.insert(event.actor.into_owned());
    }
    let mut statuses = Vec::with_capacity(tasks.len());
    for task in &tasks {
        statuses.extend(live.task(task)?.map(|task| task.status));
    }
    Ok(Some(TraceListed {
        trace_id: trace.to_owned(),
        first_at: first,
        last_at: last,
        span_ms: u64::try_from((last.micros() - first.micros()) / 1_000).unwrap_or(0),
        events: page.seqs.len(),
        events_more: page.older,
        agents: agents.into_iter().collect(),
        outcome: TraceOutcome::from_statuses(&statuses),
    }))
}
