//! `replay`: streams events in order through a filter.
//!
//! If the filter has a ref, the ref's postings name the events to read. A binary search finds the events at given times. Without a
//! ref or a time, the log is read from its first seq on. Such a replay needs no state and returns all events before the first
//! damage.

use crate::log::exclusion;
use crate::log::filter::{KINDS_MAX, has_tags};
use crate::log::public_line;
use crate::log::text::Text;
use crate::operation::prelude::*;
use crate::projections::event::message_type;
use crate::projections::event_index::IndexQuery;
use crate::projections::message::MessageType;
use crate::projections::tag::check_tag;
use page::{event, first_not};
use teamlog_engine::Place;

/// A filter for events. An absent field matches every event.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Replay {
    /// Seq of the first event in the range.
    pub from_seq: Option<u64>,
    /// Seq of the last event in the range.
    pub to_seq: Option<u64>,
    /// Earliest `created_at`.
    pub since: Option<Timestamp>,
    /// Latest `created_at`.
    pub until: Option<Timestamp>,
    /// Kind, or several kinds separated by commas.
    pub kind: Option<String>,
    /// Actor.
    pub actor: Option<String>,
    /// Trace.
    pub trace_id: Option<String>,
    /// Task.
    pub task_id: Option<String>,
    /// Agent.
    pub agent: Option<String>,
    /// Maximum number of events; `None` and 0 mean all.
    pub limit: Option<u64>,
    /// True for the newest event first.
    pub reverse: bool,
    /// Tags that the event must have, each NAME=VALUE.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Type of the message, or several types separated by commas. Only messages have a type.
    pub message_type: Option<String>,
    /// Values that the event must not have, each as FIELD:VALUE.
    #[serde(default)]
    pub not: Vec<String>,
    /// Text that the event must contain.
    pub text: Option<Text>,
    /// True to leave out stored answers for retries (`response_stored`).
    pub without_bookkeeping: bool,
}

/// Kind of the events that only store an answer for retries.
pub(super) const BOOKKEEPING: &str = "response_stored";

/// Number of seqs per page of postings.
const PAGE: usize = 1_024;

/// Callback that receives the events.
pub type EventVisitor<'a> = &'a mut dyn FnMut(&Event<'_>, &[u8]) -> ControlFlow<()>;

impl Team {
    /// Passes the matching events to `each` in order, decoded and as public JSON without newline, until `each` breaks. Returns
    /// the number of events.
    pub fn replay(&mut self, replay: Replay, each: EventVisitor<'_>) -> Result<u64> {
        replay.check()?;
        let mut output = Output::new(&replay, each);
        if !replay.needs_state() {
            replay.run_on_log(&self.reader()?, &mut output)?;
            return Ok(output.given);
        }
        match self.survey(|live, reader| replay.run_on_state(live, reader, &mut output)) {
            // The state cannot be loaded up to the head, but the log can still be read forward.
            Err(failure) if failure.is_newer() && !replay.reverse => {
                replay.run_on_log(&self.reader()?, &mut output)?;
            }
            answered => answered?,
        }
        Ok(output.given)
    }
}

impl Replay {
    /// Checks the names in the filter.
    pub fn check(&self) -> Result<()> {
        let kinds = self.kind.as_deref().unwrap_or("any");
        if kinds.split(',').count() > KINDS_MAX {
            let message = format!("kind must name at most {KINDS_MAX} kinds");
            let refusal = Refusal::new(Code::InvalidInput, message);
            return Err(refusal.field("kind").into());
        }
        for kind in kinds.split(',') {
            names::check_known_free("kind", kind)?;
        }
        for tag in &self.tags {
            check_tag("tag", tag).map_err(Refusal::from)?;
        }
        for name in self.message_types() {
            if MessageType::from_name(name).is_none() {
                return Err(Refusal::invalid("type", name, MessageType::rule()).into());
            }
        }
        exclusion::check(&self.not)?;
        if let Some(text) = &self.text {
            names::check_known_free("q", text.wanted())?;
        }
        Ok(names::check_known_free_given([
            ("actor", &self.actor),
            ("trace_id", &self.trace_id),
            ("task_id", &self.task_id),
            ("agent", &self.agent),
        ])?)
    }

    fn needs_state(&self) -> bool {
        self.reverse
            || self.since.is_some()
            || self.until.is_some()
            || self.index_query(false).is_some()
    }

    /// Returns the query of the index that finds the events; `None` if reading the log is faster. Backward, the index also finds
    /// events by kind alone. Forward it does not, because the events of a frequent kind are read faster in the order of the log.
    pub(super) fn index_query(&self, is_backward: bool) -> Option<IndexQuery<'_>> {
        let refs = [
            (RefKind::Trace, &self.trace_id),
            (RefKind::Task, &self.task_id),
            (RefKind::Agent, &self.agent),
        ];
        let refs = refs.into_iter();
        let refs = refs.filter_map(|(kind, value)| Some((kind, value.as_deref()?)));
        let query = IndexQuery {
            kinds: self
                .kind
                .iter()
                .flat_map(|kinds| kinds.split(','))
                .collect(),
            tags: self.tags.iter().map(String::as_str).collect(),
            refs: refs.collect(),
        };
        let by_kind_alone = query.tags.is_empty() && query.refs.is_empty();
        Some(query).filter(|query| match by_kind_alone {
            true => is_backward && !query.is_empty(),
            false => true,
        })
    }

    /// Returns the types of messages in the filter.
    fn message_types(&self) -> impl Iterator<Item = &str> {
        self.message_type.iter().flat_map(|types| types.split(','))
    }

    /// Returns true if the filter names no type of messages, or the type of the event's message.
    fn matches_type(&self, event: &Event<'_>) -> bool {
        self.message_type.is_none()
            || message_type(event)
                .is_some_and(|found| self.message_types().any(|name| name == found))
    }

    /// Returns true if refs, kind, actor, type and text of an event match.
    pub fn matches(&self, event: &Event<'_>) -> bool {
        let equal = |asked: &Option<String>, found: Option<&str>| {
            asked.as_deref().is_none_or(|asked| found == Some(asked))
        };
        let kept = !self.without_bookkeeping || event.kind != BOOKKEEPING || event.foreign;
        let kinds = self.kind.as_deref();
        kept && kinds.is_none_or(|kinds| kinds.split(',').any(|kind| kind == event.kind))
            && equal(&self.actor, Some(&event.actor))
            && equal(&self.trace_id, event.refs.get(RefKind::Trace))
            && equal(&self.task_id, event.refs.get(RefKind::Task))
            && equal(&self.agent, event.refs.get(RefKind::Agent))
            && self.matches_type(event)
            && has_tags(event, &self.tags)
            && self.text.as_ref().is_none_or(|text| text.is_in(event))
            && !exclusion::is_excluded(&self.not, event)
    }

    /// Reads the whole log without the state.
    fn run_on_log(&self, reader: &Reader, output: &mut Output<'_>) -> Result<()> {
        let behind = match self.from_seq.unwrap_or(1) {
            0 | 1 => None,
            first => match reader.find_seq(first - 1)? {
                Some(place) => Some(place),
                None => return Ok(()),
            },
        };
        self.stream(reader, behind, output)
    }

    /// Reads the log forward from a place.
    fn stream(
        &self,
        reader: &Reader,
        behind: Option<Place>,
        output: &mut Output<'_>,
    ) -> Result<()> {
        let last = self.to_seq.unwrap_or(u64::MAX);
        reader.each(behind, |located| {
            let event = &located.frame.event;
            let early = self.since.is_some_and(|since| event.created_at < since);
            let late = self.until.is_some_and(|until| event.created_at > until);
            Ok::<_, Failure>(match event.seq > last || late {
                true => ControlFlow::Break(()),
                false if early => ControlFlow::Continue(()),
                false => output.give(event),
            })
        })?;
        Ok(())
    }

    pub(super) fn run_on_state(
        &self,
        live: &Live,
        reader: &Reader,
        output: &mut Output<'_>,
    ) -> Result<()> {
        let Some((first, last)) = self.range(live, reader)? else {
            return Ok(());
        };
        match (self.index_query(self.reverse), self.reverse) {
            (Some(query), true) => newest_first(live, &query, (first, last), |seqs| {
                each(live, reader, seqs.iter().copied(), output)?;
                Ok(!output.done)
            }),
            (Some(query), false) => {
                let seqs = indexed(live, &query, (first, last))?;
                each(live, reader, seqs.into_iter().rev(), output)
            }
            (None, true) => each(live, reader, (first..=last).rev(), output),
            (None, false) => {
                let behind = match first {
                    1 => None,
                    first => live.place(first - 1)?,
                };
                self.stream(reader, behind, output)
            }
        }
    }

    /// Returns the first and the last seq that the filter's seqs and times allow.
    fn range(&self, live: &Live, reader: &Reader) -> Result<Option<(u64, u64)>> {
        let head = reader.head().last_seq;
        let mut first = self.from_seq.unwrap_or(1).max(1);
        let mut last = self.to_seq.unwrap_or(head).min(head);
        if let Some(since) = self.since {
            let early = |event: &Event<'static>| event.created_at < since;
            first = first.max(first_not(live, reader, head, early)?);
        }
        if let Some(until) = self.until {
            let past = first_not(live, reader, head, |event| event.created_at <= until)?;
            last = last.min(past - 1);
        }
        Ok((first <= last).then_some((first, last)))
    }
}

/// Returns all seqs of the range that match a query, newest first.
pub(super) fn indexed(live: &Live, query: &IndexQuery<'_>, range: (u64, u64)) -> Result<Vec<u64>> {
    let mut all = Vec::new();
    newest_first(live, query, range, |seqs| {
        all.extend(seqs);
        Ok(true)
    })?;
    Ok(all)
}

/// Passes pages of the matching seqs in the range to `more`, newest first, until `more` returns false.
fn newest_first(
    live: &Live,
    query: &IndexQuery<'_>,
    (first, mut last): (u64, u64),
    mut more: impl FnMut(&[u64]) -> Result<bool>,
) -> Result<()> {
    loop {
        let page = live.indexed(query, (first, last), PAGE, usize::MAX)?;
        let wanted = more(&page.seqs)?;
        match page.before.and_then(|before| before.checked_sub(1)) {
            Some(next) if wanted => last = next,
            _ => return Ok(()),
        }
    }
}

pub(super) fn each(
    live: &Live,
    reader: &Reader,
    seqs: impl Iterator<Item = u64>,
    output: &mut Output<'_>,
) -> Result<()> {
    for seq in seqs {
        if output.give(&event(live, reader, seq)?).is_break() {
            break;
        }
    }
    Ok(())
}

/// Output of a replay: filters, counts and renders events. Passes no event twice, even if a query runs again.
pub(super) struct Output<'a> {
    replay: &'a Replay,
    each: EventVisitor<'a>,
    line: Vec<u8>,
    left: u64,
    pub given: u64,
    last: Option<u64>,
    pub done: bool,
}

impl<'a> Output<'a> {
    pub fn new(replay: &'a Replay, each: EventVisitor<'a>) -> Output<'a> {
        Output {
            replay,
            each,
            line: Vec::new(),
            left: replay.limit.filter(|limit| *limit > 0).unwrap_or(u64::MAX),
            given: 0,
            last: None,
            done: false,
        }
    }

    pub fn give(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        let again = self.last.is_some_and(|last| match self.replay.reverse {
            true => event.seq >= last,
            false => event.seq <= last,
        });
        if again || !self.replay.matches(event) {
            return ControlFlow::Continue(());
        }
        self.line.clear();
        public_line::write(event, &mut self.line);
        self.given += 1;
        self.left -= 1;
        self.last = Some(event.seq);
        self.done = (self.each)(event, &self.line).is_break() || self.left == 0;
        page::goes_on(!self.done)
    }
}
