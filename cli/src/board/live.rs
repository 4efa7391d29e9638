//! The newest events. The list shows new events as they arrive, or is paused.

use super::cursor::Cursor;
use std::collections::VecDeque;
use teamlog_team::engine::Timestamp;

pub const KEPT: usize = 1_000;
/// Maximum number of newer events that a paused list keeps.
const KEPT_BEHIND: usize = 10_000;

/// An event as a row of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub seq: u64,
    pub at: Timestamp,
    pub actor: String,
    pub kind: String,
    /// True for an event of a kind that teamlog does not interpret.
    pub foreign: bool,
    pub what: String,
    /// The event as JSON, cut at a maximum length.
    pub json: String,
}

/// The kept events, and the events that are shown.
#[derive(Debug, Default)]
pub struct Live {
    lines: VecDeque<Line>,
    /// Indices in `lines` of the shown events.
    shown: Vec<usize>,
    /// Seq of the last shown event while the list is paused; `None` if the list is not paused.
    still: Option<u64>,
    /// Number of events after `still` that pass the filter.
    unseen: usize,
    pub cursor: Cursor,
}

impl Live {
    pub fn is_still(&self) -> bool {
        self.still.is_some()
    }

    pub fn unseen(&self) -> usize {
        self.unseen
    }

    pub fn len(&self) -> usize {
        self.shown.len()
    }

    pub fn line(&self, row: usize) -> Option<&Line> {
        self.shown.get(row).and_then(|place| self.lines.get(*place))
    }

    /// Adds new events. If `fresh` is true, drops the old events first.
    pub fn take(&mut self, lines: Vec<Line>, fresh: bool, filter: &str) {
        if fresh {
            let still = self.still.is_some();
            *self = Live::default();
            self.still = still.then(|| lines.last().map_or(0, |line| line.seq));
        }
        let last = self.lines.back().map_or(0, |line| line.seq);
        self.lines
            .extend(lines.into_iter().filter(|line| line.seq > last));
        self.drop_old();
        self.choose(filter);
    }

    /// Applies a filter. The selected event stays selected.
    pub fn choose(&mut self, filter: &str) {
        let seq = self.line(self.cursor.row).map(|line| line.seq);
        let at_end = self.cursor.row + 1 >= self.shown.len();
        let passes = |line: &Line| line.passes(filter);
        let still = self.still.unwrap_or(u64::MAX);
        let places = self.lines.iter().enumerate();
        let shown = places.filter(|(_, line)| line.seq <= still && passes(line));
        self.shown = shown.map(|(place, _)| place).collect();
        let behind = self.lines.iter().rev();
        let behind = behind.take_while(|line| line.seq > still);
        self.unseen = behind.filter(|line| passes(line)).count();
        let last = self.shown.len().saturating_sub(1);
        self.cursor.row = match seq {
            Some(seq) if self.is_still() || !at_end => {
                let rows = self
                    .shown
                    .partition_point(|place| self.lines[*place].seq < seq);
                rows.min(last)
            }
            _ => last,
        };
    }

    /// Pauses the list, or resumes a paused list.
    pub fn toggle(&mut self, filter: &str) {
        match self.still {
            Some(_) => self.resume(filter),
            None => self.stop(),
        }
    }

    /// Pauses the list if it is not paused yet.
    pub fn stop(&mut self) {
        let last = self.lines.back().map_or(0, |line| line.seq);
        self.still.get_or_insert(last);
    }

    /// Resumes the list and selects the newest event.
    pub fn resume(&mut self, filter: &str) {
        self.still = None;
        self.drop_old();
        self.choose(filter);
        self.cursor.row = self.shown.len().saturating_sub(1);
    }

    /// Drops the oldest events above the limit. A paused list keeps its shown events and the newest of the later events.
    fn drop_old(&mut self) {
        let Some(still) = self.still else {
            let surplus = self.lines.len().saturating_sub(KEPT);
            self.lines.drain(..surplus);
            return;
        };
        let shown = self.lines.partition_point(|line| line.seq <= still);
        let surplus = (self.lines.len() - shown).saturating_sub(KEPT_BEHIND);
        self.lines.drain(shown..shown + surplus);
    }
}

impl Line {
    fn passes(&self, filter: &str) -> bool {
        let texts = [&self.actor, &self.kind, &self.what];
        filter.is_empty()
            || super::state::any_has(texts.map(|text| text.as_str()), filter)
            || filter.strip_prefix('#') == Some(&self.seq.to_string())
    }
}
