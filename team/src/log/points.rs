//! `diff` as an operation. The two points are texts: a seq or a time.

use crate::handle::past::point;
use crate::log::diff::{Diff, DiffAnswer};
use crate::operation::prelude::*;
use teamlog_engine::Point;

operation! {
    /// Read the changes between two points of the log: task fields, inboxes and members
    "diff": Reads(ReadDiff {
        /// Start of the compared span: a seq, or a time in ISO 8601; a time before the team's creation means its first event
        from: String,
        /// Point after the changes; now if absent
        to: Option<String>,
        /// Largest number of tasks; 50 if absent. On the command line, 0 means all
        #[schemars(range(min = 1, max = 1000))]
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<usize>)]
        limit: Option<usize>,
        /// `next_cursor` of the previous page
        #[arg(long, value_name = "TASK")]
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
