//! `inbox-feed`: what an agent is to be told, in the order of the log, behind a cursor of its own.
//!
//! The cursor is a seq of the log, so that nothing is missed or told twice, whoever restarts in between.

use super::thread_tail::PAGE_BYTES;
use crate::failure::Result;
use crate::feed_entry::FeedEntry;
use crate::names;
use crate::refusal::{Code, Refusal};
use crate::team::Team;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Entries of a page unless the caller says otherwise.
pub const FEED: usize = 100;
/// Most entries of a page.
pub const FEED_MAX: usize = 1000;

/// What `inbox-feed` is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InboxFeed {
    /// Whose feed
    pub worker: String,
    /// The cursor up to which it was read; else from the beginning
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// Most entries, at most 1000; default 100
    #[schemars(range(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

/// `{worker, count, events, next_since, more}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InboxFeedAnswer {
    /// Whose feed
    pub worker: String,
    /// How many entries there are
    pub count: usize,
    /// The entries, oldest first
    pub events: Vec<FeedEntry>,
    /// The cursor to go on from: the last entry where more follow, else the end of the log
    pub next_since: u64,
    /// Whether more follow already
    pub more: bool,
}

impl Team {
    /// What an agent is to be told.
    ///
    /// # Errors
    /// `invalid_input`, `cursor_ahead`; the log's.
    pub fn inbox_feed(&mut self, feed: &InboxFeed) -> Result<InboxFeedAnswer> {
        names::check_known("worker", &feed.worker)?;
        let since = feed.since.unwrap_or(0);
        let limit = match feed.limit {
            None | Some(0) => FEED,
            Some(limit) => limit.min(FEED_MAX),
        };
        let team = self.name().to_owned();
        self.query(|live, reader| {
            let head = live.seq();
            if since > head {
                return Err(ahead(since, head).into());
            }
            let page = live.feed(&feed.worker, since, limit)?;
            let (mut events, mut bytes, mut more) = (Vec::new(), 0, page.more);
            for seq in page.seqs {
                if bytes > PAGE_BYTES {
                    more = true;
                    break;
                }
                let event = super::event(live, reader, seq)?;
                if let Some(entry) = FeedEntry::of(&event, &team, &feed.worker)? {
                    bytes += entry.content.as_ref().map_or(0, String::len);
                    events.push(entry);
                }
            }
            let last = events.last().map_or(since, |entry| entry.cursor);
            Ok(InboxFeedAnswer {
                count: events.len(),
                next_since: if more { last } else { head },
                events,
                more,
                worker: feed.worker.clone(),
            })
        })
    }
}

fn ahead(since: u64, head: u64) -> Refusal {
    let message = format!("since must be at most {head}, the end of the log, but is {since}");
    Refusal::new(Code::CursorAhead, message)
        .field("since")
        .detail("since", since)
        .detail("last_seq", head)
        .hint("an older state of the log may have been put back; begin again from 0")
}
