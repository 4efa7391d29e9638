//! What happens, event by event: the newest ones, going along or standing still.

use super::cursor::Cursor;
use std::collections::VecDeque;
use teamlog_team::engine::Timestamp;

pub const KEPT: usize = 1_000;
/// Events that are kept behind those that stand still.
const KEPT_BEHIND: usize = 10_000;

/// An event as a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub seq: u64,
    pub at: Timestamp,
    pub actor: String,
    pub kind: String,
    /// Whether it is none of ours.
    pub foreign: bool,
    pub what: String,
    /// Its public JSON, up to a length.
    pub json: String,
}

/// The events, and how many of them are shown.
#[derive(Debug, Default)]
pub struct Live {
    lines: VecDeque<Line>,
    /// What the filter leaves of those that are shown, by their place.
    shown: Vec<usize>,
    /// The last event that is shown while the list stands still.
    still: Option<u64>,
    /// Events that came since, and pass the filter.
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

    /// Takes what was appended; `fresh` where it is another log, or another history of it.
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

    /// Shows what passes the filter; the same event stays chosen.
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

    /// Stands still, or goes along again.
    pub fn toggle(&mut self, filter: &str) {
        match self.still {
            Some(_) => self.resume(filter),
            None => self.stop(),
        }
    }

    /// Stands still, where it does not yet.
    pub fn stop(&mut self) {
        let last = self.lines.back().map_or(0, |line| line.seq);
        self.still.get_or_insert(last);
    }

    /// Goes along, at the newest event.
    pub fn resume(&mut self, filter: &str) {
        self.still = None;
        self.drop_old();
        self.choose(filter);
        self.cursor.row = self.shown.len().saturating_sub(1);
    }

    /// Where the list stands still, what is shown stays, and of what came behind the newest.
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
