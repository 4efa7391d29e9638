//! `diff` as an operation, with points as text: a seq, or a time.

use crate::handle::past::point;
use crate::log::diff::{Diff, DiffAnswer};
use crate::operation::prelude::*;
use teamlog_engine::Point;

operation! {
    /// Read what changed between two points of the log: tasks field by field, inboxes, members; it reads what lies between
    "diff": Reads(ReadDiff {
        /// Where it begins: a seq, or a time as ISO 8601 has it; before the team began that is its first event
        from: String,
        /// Where it ends; else now
        to: Option<String>,
        /// Most tasks on the page, 1 to 1000; 50 if left out
        #[schemars(range(min = 1, max = 1000))]
        limit: Option<usize>,
        /// The last task of the page before
        cursor: Option<String>,
    }) -> DiffAnswer = |team, asked| asked.answer(team),
    refuses = [PointUnknown, CursorUnknown, PastBusy]
}

impl ReadDiff {
    /// Returns the changes.
    pub fn answer(self, team: &mut Team) -> Result<DiffAnswer> {
        team.diff(&self.parsed()?)
    }

    fn parsed(self) -> Result<Diff> {
        Ok(Diff {
            from: parsed("from", &self.from)?,
            to: self.to.map(|to| parsed("to", &to)).transpose()?,
            limit: self.limit,
            cursor: self.cursor,
        })
    }
}

fn parsed(field: &'static str, text: &str) -> Result<Point, Refusal> {
    let rule = "must be a seq, or a time in ISO 8601";
    point(text.trim()).map_err(|_| Refusal::invalid(field, text, rule))
}
