//! `trace`: the events of one trace.

use crate::log::recorded::Recorded;
use crate::operation::prelude::*;
use crate::story::{self, OutsideCause, Span, Story};

operation! {
    /// Read the events of a trace, in order and with their causes
    "read-trace": Reads(Trace {
        /// Id of the trace
        #[arg(long, value_name = "TRACE")]
        trace_id: String,
        /// Largest number of events, counted from the newest; all events if absent. On the command line, 0 means all
        #[schemars(range(min = 1, max = 1000))]
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<usize>)]
        limit: Option<usize>,
        /// `next_cursor` of the previous page
        #[arg(long, value_name = "EVENT_ID")]
        cursor: Option<String>,
    }) -> TraceAnswer = Team::trace,
    refuses = [CursorUnknown]
}

/// The answer `{team, trace_id, events, count, next_cursor, spans, causes_outside}`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TraceAnswer {
    /// The team.
    pub team: String,
    /// The trace.
    pub trace_id: String,
    /// The newest events of the trace up to the limit, in `(created_at, id)` order, with marks.
    pub events: Vec<Recorded>,
    /// Number of events on the page.
    pub count: usize,
    /// Cursor of the next page: the id of the oldest event on this page; `null` if no older events remain.
    pub next_cursor: Option<String>,
    /// Tasks and messages that start on the page, in the order of their start, with their durations.
    pub spans: Vec<Span>,
    /// Causes that are not on the page but named by its events, in the order of their ids.
    pub causes_outside: Vec<OutsideCause>,
}

impl TraceAnswer {
    /// Returns the events as a tree.
    pub fn story(&self) -> Story<'_> {
        Story::new(&self.events, &self.causes_outside)
    }
}

impl Team {
    /// Returns the events of a trace.
    pub fn trace(&mut self, trace: Trace) -> Result<TraceAnswer> {
        names::check_known_free("trace_id", &trace.trace_id)?;
        self.survey(|live, reader| {
            let story = (RefKind::Trace, trace.trace_id.as_str());
            let before = page::before(live, reader, story, trace.cursor.as_deref())?;
            let limit = page::limit(trace.limit, 0);
            let page = live.with_ref(RefKind::Trace, &trace.trace_id, before, limit)?;
            let events = Recorded::all(live, reader, page.seqs)?;
            let causes = story::causes_outside(&events).into_iter();
            let causes = causes.map(|id| outside(live, reader, id));
            let causes_outside = causes.collect::<Result<Vec<OutsideCause>>>()?;
            let oldest = events.first().filter(|_| page.older);
            Ok(TraceAnswer {
                spans: Story::new(&events, &causes_outside).spans,
                causes_outside,
                team: reader.identity().name.clone(),
                trace_id: trace.trace_id.clone(),
                count: events.len(),
                next_cursor: oldest.map(|oldest| oldest.event.id.to_string()),
                events,
            })
        })
    }
}

fn outside(live: &Live, reader: &Reader, id: EventId) -> Result<OutsideCause> {
    let event = page::event_of(live, reader, id)?;
    let event = event.as_ref();
    let trace_id = event.and_then(|event| event.refs.get(RefKind::Trace));
    Ok(OutsideCause {
        id: id.to_string(),
        seq: event.map(|event| event.seq),
        kind: event.map(|event| event.kind.to_string()),
        trace_id: trace_id.map(str::to_owned),
    })
}
