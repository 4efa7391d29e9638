//! Conditions of an append: nothing was appended after a seq, or no event matches a filter.
//!
//! A condition is evaluated in the decision of the append, so it also sees the events that the same group already has. The index
//! answers it: the cost does not depend on the length of the log, and is bounded.

use crate::log::events::ahead;
use crate::log::filter::EventFilter;
use crate::operation::prelude::*;
use crate::projections::event_index::IndexMatch;

/// Largest number of filters in `if_none`.
pub const FILTERS_MAX: usize = 16;
/// Largest number of look-ups for one filter. The log cannot be written meanwhile.
const STEPS_MAX: usize = 10_000;

/// Conditions of an append. All must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conditions {
    /// Seq of the last event that the log may have.
    pub if_seq: Option<u64>,
    /// Filters that no event may match.
    pub if_none: Vec<EventFilter>,
    /// Seq after which the filters of `if_none` look; from the beginning if absent.
    pub after: Option<u64>,
}

impl Conditions {
    /// Returns true if nothing is demanded.
    pub fn is_empty(&self) -> bool {
        self.if_seq.is_none() && self.if_none.is_empty()
    }

    /// Checks the values.
    ///
    /// # Errors
    /// `invalid_input`.
    pub fn check(&self) -> Result<(), Refusal> {
        let invalid = |field: &'static str, message: String| {
            Err(Refusal::new(Code::InvalidInput, message).field(field))
        };
        if self.after.is_some() && self.if_none.is_empty() {
            let message = "after says where if_none begins, but if_none is absent";
            return invalid("after", message.to_owned());
        }
        if self.if_none.len() > FILTERS_MAX {
            let count = self.if_none.len();
            let message =
                format!("if_none must have at most {FILTERS_MAX} filters, but has {count}");
            return invalid("if_none", message);
        }
        for filter in &self.if_none {
            filter.check()?;
            if filter.actor.is_some() {
                let message =
                    "if_none must not name an actor, because actors have no index; use a tag";
                return invalid("if_none", message.to_owned());
            }
            if filter.is_empty() {
                let message = "if_none must name a kind, a tag or a ref; to refuse every later event, use if_seq";
                return invalid("if_none", message.to_owned());
            }
        }
        Ok(())
    }

    /// Fails if a condition does not hold.
    ///
    /// # Errors
    /// `append_conflict` with the newest event that matches; `cursor_ahead`; `too_large`.
    pub(crate) fn hold(&self, live: &Live) -> Result<()> {
        let last = live.seq();
        for (field, seq) in [("if_seq", self.if_seq), ("after", self.after)] {
            if let Some(seq) = seq.filter(|seq| *seq > last) {
                return Err(ahead(field, seq, last).into());
            }
        }
        if let Some(seq) = self.if_seq.filter(|seq| *seq < last) {
            let message = format!("if_seq is {seq}, but the log has event {last}");
            return Err(conflict("if_seq", message, (last, last), seq).into());
        }
        for filter in &self.if_none {
            if let Some(seq) = self.newest(live, filter, last)? {
                let message = format!("event {seq} matches if_none: {}", filter.text());
                let read = self.after.unwrap_or(seq.saturating_sub(1));
                return Err(conflict("if_none", message, (seq, last), read).into());
            }
        }
        Ok(())
    }

    /// Returns the newest event that matches a filter.
    fn newest(&self, live: &Live, filter: &EventFilter, last: u64) -> Result<Option<u64>> {
        let first = self.after.unwrap_or_default().saturating_add(1);
        let (query, mut left) = (filter.index_query(), STEPS_MAX);
        match live.newest_indexed(&query, (first, last), &mut left)? {
            IndexMatch::Seq(seq) => Ok(Some(seq)),
            IndexMatch::None => Ok(None),
            IndexMatch::Stopped(seq) => {
                let message = format!(
                    "if_none needs more than {STEPS_MAX} look-ups: {}; no event after {seq} matches",
                    filter.text()
                );
                let refusal = Refusal::new(Code::TooLarge, message).field("if_none");
                Err(refusal
                    .hint("give after, or a tag that fewer events have")
                    .into())
            }
        }
    }
}

/// Returns the refusal about the event `seq`. `read` is the last event that the caller has read.
fn conflict(
    field: &'static str,
    message: String,
    (seq, last_seq): (u64, u64),
    read: u64,
) -> Refusal {
    let refusal = Refusal::new(Code::AppendConflict, message).field(field);
    let refusal = refusal.detail("seq", seq).detail("last_seq", last_seq);
    refusal.detail("from_seq", read.saturating_add(1))
}

impl Team {
    /// Adds id and kind of the conflicting event to `append_conflict`. The decision knows only the seq, because the event may be in
    /// the group that is not written yet.
    pub(crate) fn name_conflict(&mut self, failure: Failure) -> Failure {
        let Failure::Refused(refusal) = failure else {
            return failure;
        };
        let seq = refusal.details.get("seq").and_then(Value::as_u64);
        let Some(seq) = seq.filter(|_| refusal.code == Code::AppendConflict) else {
            return refusal.into();
        };
        match self.query(|live, reader| Ok(live.event(reader, seq)?)) {
            Ok(Some(event)) => {
                let refusal = refusal.detail("id", event.id.to_string());
                refusal.detail("kind", &*event.kind).into()
            }
            _ => refusal.into(),
        }
    }
}
