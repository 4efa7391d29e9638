//! `search`: finds tasks, messages, threads and posts by their words and fields, and events by their tags, newest first.

mod hit;
pub mod query;

use crate::operation::prelude::*;
use crate::projections::search::{Position, Query};
pub use hit::SearchHit;
use page::unknown_cursor;

/// Maximum number of matches on a page.
pub const SEARCH_MAX: usize = 200;

operation! {
    /// Find tasks, messages, threads and posts by words, fields and times, and events by tags, newest first
    "search": Reads(Search {
        /// Words that must all occur, "quoted words" in this order, beginnings (wor*), -excluded words, and the fields kind, by,
        /// to, task, status, label, tag, after and before, such as by:dev
        #[arg(value_name = "QUERY", allow_hyphen_values = true)]
        query: String,
        /// Largest number of matches, at most 200; 50 if absent
        #[schemars(range(min = 1))]
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<usize>)]
        limit: Option<usize>,
        /// `next_cursor` of the previous page
        #[arg(long, value_name = "CURSOR")]
        cursor: Option<String>,
    }) -> SearchAnswer = |team, asked| team.search(&asked),
    refuses = [CursorUnknown]
}

/// The answer `{team, query, hits, count, events, next_cursor?}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SearchAnswer {
    /// Name of the team
    pub team: String,
    /// The query
    pub query: String,
    /// The matches, newest first
    pub hits: Vec<SearchHit>,
    /// Number of matches on the page
    pub count: usize,
    /// Number of events up to which the log was searched
    pub events: u64,
    /// Cursor of the next page; absent when everything was searched. A page may be empty and not be the last
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl Team {
    /// Finds the newest matches of a query.
    ///
    /// # Errors
    /// `invalid_input` for a query that breaks a rule, and `cursor_unknown`.
    pub fn search(&mut self, search: &Search) -> Result<SearchAnswer> {
        let parsed = query::parse(&search.query, self.now())?;
        let limit = page::at_most(search.limit, page::PAGE, SEARCH_MAX);
        let before = search.before()?;
        self.query(|live, reader| {
            let bound = |at: Option<Timestamp>| {
                let first =
                    |at| page::first_not(live, reader, live.seq(), |event| event.created_at < at);
                at.map(first).transpose()
            };
            let query = Query {
                terms: parsed.terms.clone(),
                first: bound(parsed.after)?.unwrap_or_default(),
                end: bound(parsed.before)?,
            };
            let found = live.search(reader, &query, before, limit)?;
            let hits = found.found.into_iter();
            let hits: Vec<SearchHit> = hits.map(|found| SearchHit::new(found, &query)).collect();
            Ok(SearchAnswer {
                team: reader.identity().name.clone(),
                query: search.query.clone(),
                count: hits.len(),
                hits,
                events: live.seq(),
                next_cursor: found.next.map(|next| next.number().to_string()),
            })
        })
    }
}

impl Search {
    fn before(&self) -> Result<Option<Position>> {
        let Some(cursor) = &self.cursor else {
            return Ok(None);
        };
        let unknown = |_| unknown_cursor(cursor, "the next_cursor of a search");
        let number = cursor.parse().map_err(unknown)?;
        Ok(Some(Position::from_number(number)))
    }
}
