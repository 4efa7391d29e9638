//! `inbox-feed`: returns the entries of an agent's feed after a cursor, in log order.
//!
//! The cursor is a seq of the log, so a reader that restarts misses nothing and reads nothing twice.

use crate::log::events::ahead;
use crate::message::feed_entry::FeedEntry;
use crate::operation::prelude::*;
use crate::thread::RULES;
use crate::thread::tail::PAGE_BYTES;

operation! {
    /// Read an agent's feed after a cursor
    "inbox-feed": Reads(InboxFeed {
        /// Owner of the feed
        worker: String,
        /// Cursor of the last read entry; the beginning if absent
        since: Option<u64>,
        /// Largest number of entries, at most 1000; if absent, all entries that fit into 4 MiB
        #[schemars(range(min = 1))]
        limit: Option<usize>,
    }) -> InboxFeedAnswer = |team, asked| team.inbox_feed(&asked),
    refuses = [CursorAhead],
    rules = RULES
}

/// Maximum number of entries on a page if the caller gives a limit. Without a limit, only the size of the answer is bounded.
pub const FEED_MAX: usize = 1000;

/// The answer `{worker, count, events, next_since, more}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InboxFeedAnswer {
    /// The agent whose feed this is
    pub worker: String,
    /// Number of entries
    pub count: usize,
    /// The entries, oldest first
    pub events: Vec<FeedEntry>,
    /// Cursor for the next call: the last event examined if more entries may follow, else the end of the log
    pub next_since: u64,
    /// True if more entries may follow
    pub more: bool,
}

impl Team {
    /// Reads an agent's feed after the caller's cursor.
    pub fn inbox_feed(&mut self, feed: &InboxFeed) -> Result<InboxFeedAnswer> {
        names::check_known("worker", &feed.worker)?;
        let since = feed.since.unwrap_or(0);
        let limit = page::at_most(feed.limit, usize::MAX, FEED_MAX);
        let team = self.name().to_owned();
        self.query(|live, reader| {
            let head = live.seq();
            if since > head {
                return Err(ahead("since", since, head).into());
            }
            let mut page = Page {
                events: Vec::new(),
                bytes: 0,
                seen: since,
                more: true,
            };
            while page.more && page.events.len() < limit && page.bytes < PAGE_BYTES {
                page.extend(live, reader, feed, &team, limit)?;
            }
            Ok(InboxFeedAnswer {
                count: page.events.len(),
                next_since: if page.more { page.seen } else { head },
                events: page.events,
                more: page.more,
                worker: feed.worker.clone(),
            })
        })
    }
}

struct Page {
    events: Vec<FeedEntry>,
    bytes: usize,
    /// Seq of the last event examined.
    seen: u64,
    /// True if more entries may follow.
    more: bool,
}

impl Page {
    fn extend(
        &mut self,
        live: &Live,
        reader: &Reader,
        feed: &InboxFeed,
        team: &str,
        limit: usize,
    ) -> Result<()> {
        let wanted = (limit - self.events.len()).min(FEED_MAX);
        let found = live.feed(&feed.worker, self.seen, wanted)?;
        for seq in found.seqs {
            if self.bytes >= PAGE_BYTES {
                return Ok(());
            }
            let event = page::event(live, reader, seq)?;
            if let Some(entry) = FeedEntry::from_event(&event, team, &feed.worker)? {
                self.bytes += entry.bytes();
                self.events.push(entry);
            }
            self.seen = seq;
        }
        self.more = found.more;
        Ok(())
    }
}
