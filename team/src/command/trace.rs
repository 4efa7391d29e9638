//! `trace`: the events of one story.

use crate::Recorded;
use crate::failure::Result;
use crate::names;
use crate::projections::Live;
use crate::team::Team;
use schemars::JsonSchema;
use serde::Serialize;
use teamlog_engine::{Reader, RefKind};

/// What `trace` is asked.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    /// The story.
    pub trace_id: String,
    /// Most events on the page; `None` and 0 are all.
    pub limit: Option<usize>,
    /// The oldest event of the page before, by id.
    pub cursor: Option<String>,
}

/// `{team, trace_id, events, count, next_cursor}`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TraceAnswer {
    /// The team.
    pub team: String,
    /// The story.
    pub trace_id: String,
    /// The newest events that fit, in `(created_at, id)` order, marked.
    pub events: Vec<Recorded>,
    /// Events on the page.
    pub count: usize,
    /// The oldest id of the page while older ones remain.
    pub next_cursor: Option<String>,
}

impl Team {
    /// The events of a story.
    ///
    /// # Errors
    /// `invalid_input`, `cursor_unknown`; the log's.
    pub fn trace(&mut self, trace: Trace) -> Result<TraceAnswer> {
        let team = self.name().to_owned();
        names::check_free("trace_id", &trace.trace_id)?;
        self.query(|live, reader| {
            let before = before(live, reader, &trace)?;
            let limit = super::limit(trace.limit, 0);
            let page = live.with_ref(RefKind::Trace, &trace.trace_id, before, limit)?;
            let events = page
                .seqs
                .iter()
                .map(|seq| Recorded::marked(live, super::event(live, reader, *seq)?))
                .collect::<Result<Vec<Recorded>>>()?;
            Ok(TraceAnswer {
                team: team.clone(),
                trace_id: trace.trace_id.clone(),
                count: events.len(),
                next_cursor: events
                    .first()
                    .filter(|_| page.older)
                    .map(|oldest| oldest.event.id.to_string()),
                events,
            })
        })
    }
}

/// The seq that the cursor names: an event of this very story.
fn before(live: &Live, reader: &Reader, trace: &Trace) -> Result<Option<u64>> {
    let Some(cursor) = &trace.cursor else {
        return Ok(None);
    };
    let unknown = || super::unknown_cursor(cursor, "the id of an event of this trace");
    let seq = super::event_cursor(live, reader, cursor)?.ok_or_else(unknown)?;
    let event = super::event(live, reader, seq)?;
    if event.refs.get(RefKind::Trace) != Some(&trace.trace_id) {
        return Err(unknown().into());
    }
    Ok(Some(seq))
}
