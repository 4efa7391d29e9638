//! `thread-search`: finds threads that contain a text, the newest thread first.
//!
//! There is no text index of messages. So each call examines a bounded part of the messages, and its cursor names the place
//! where the next call continues.

use crate::thread::prelude::*;
use page::unknown_cursor;

operation! {
    /// Find threads that contain a text, the newest thread first
    "thread-search": Reads(ThreadSearch {
        /// Text to find in the title, a message, a participant or the task's id, ignoring case; every thread if absent
        #[arg(value_name = "TEXT")]
        query: Option<String>,
        /// Largest number of threads, at most 200; 50 if absent
        #[schemars(range(min = 1))]
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<usize>)]
        limit: Option<usize>,
        /// `next_cursor` of the previous page
        #[arg(long, value_name = "CURSOR")]
        cursor: Option<String>,
    }) -> ThreadSearchAnswer = |team, asked| team.thread_search(&asked),
    refuses = [CursorUnknown],
    rules = RULES
}

/// Maximum number of threads on a page.
pub const SEARCH_MAX: usize = 200;
/// Maximum number of message bytes that one call examines.
const EXAMINED_BYTES: usize = 8 << 20;
/// Maximum number of messages and threads that one call examines.
const EXAMINED: usize = 20_000;
/// Number of threads or messages that are fetched together.
const PORTION: usize = 256;
/// Separator between thread and event in a cursor. The thread's messages were examined down to that event.
const WITHIN: char = '@';

/// The answer `{threads, next_cursor?}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadSearchAnswer {
    /// The threads, the newest first
    pub threads: Vec<ThreadShown>,
    /// Cursor of the next page; absent when everything was examined. A page without threads can have a next page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

struct Left {
    bytes: usize,
    things: usize,
}

impl Left {
    fn is_some(&self) -> bool {
        self.bytes > 0 && self.things > 0
    }
    fn take(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_sub(bytes);
        self.things = self.things.saturating_sub(1);
    }
}

enum ThreadMatch {
    Holds,
    HoldsNot,
    /// The call has reached its limit. Messages from this event on were examined.
    Stopped(u64),
}

impl Team {
    /// Finds threads that contain a text.
    pub fn thread_search(&mut self, search: &ThreadSearch) -> Result<ThreadSearchAnswer> {
        let wanted = search.query.as_deref().unwrap_or_default().trim();
        let wanted = wanted.to_lowercase();
        self.query(|live, reader| search.page(live, reader, &wanted))
    }
}

impl ThreadSearch {
    fn page(&self, live: &Live, reader: &Reader, wanted: &str) -> Result<ThreadSearchAnswer> {
        let limit = page::at_most(self.limit, page::PAGE, SEARCH_MAX);
        let mut left = Left {
            bytes: EXAMINED_BYTES,
            things: EXAMINED,
        };
        let mut answer = ThreadSearchAnswer::default();
        let mut before = None;
        if let Some((thread, within)) = self.start(live)? {
            before = Some(thread.id.clone());
            if let Some(within) = within {
                let found = messages(live, reader, &thread, wanted, Some(within), &mut left)?;
                if answer.take(&thread, &found) {
                    return Ok(answer);
                }
            }
        }
        loop {
            let portion = live.threads_before(before.as_deref(), PORTION)?;
            for thread in &portion {
                if answer.threads.len() == limit || !left.is_some() {
                    answer.next_cursor = before;
                    return Ok(answer);
                }
                left.take(0);
                let found = match speaks_of(thread, wanted) {
                    true => ThreadMatch::Holds,
                    false => messages(live, reader, thread, wanted, None, &mut left)?,
                };
                if answer.take(thread, &found) {
                    return Ok(answer);
                }
                before = Some(thread.id.clone());
            }
            if portion.len() < PORTION {
                return Ok(answer);
            }
        }
    }

    /// Parses the cursor: the thread, and the event before which its messages are not examined yet.
    fn start(&self, live: &Live) -> Result<Option<(Thread, Option<u64>)>> {
        let Some(cursor) = &self.cursor else {
            return Ok(None);
        };
        let unknown = || -> Refusal { unknown_cursor(cursor, "the next_cursor of a search") };
        let (id, within) = match cursor.split_once(WITHIN) {
            None => (cursor.as_str(), None),
            Some((id, seq)) => (id, Some(seq.parse().map_err(|_| unknown())?)),
        };
        let thread = live.thread(id)?.ok_or_else(unknown)?;
        Ok(Some((thread, within)))
    }
}

impl ThreadSearchAnswer {
    /// Adds a thread if the thread contains the text. Returns true if the page ends after this thread.
    fn take(&mut self, thread: &Thread, found: &ThreadMatch) -> bool {
        match found {
            ThreadMatch::Holds => self.threads.push(ThreadShown::from(thread)),
            ThreadMatch::HoldsNot => {}
            ThreadMatch::Stopped(seq) => {
                self.next_cursor = Some(format!("{}{WITHIN}{seq}", thread.id));
                return true;
            }
        }
        false
    }
}

/// Returns true if the thread's title, participants or task contain the text.
fn speaks_of(thread: &Thread, wanted: &str) -> bool {
    let holds = |text: &str| text.to_lowercase().contains(wanted);
    holds(&thread.title)
        || holds(&thread.id)
        || thread.task_id.as_deref().is_some_and(holds)
        || thread.participants.iter().any(|one| holds(one))
}

/// Examines the messages of a thread from an event backward.
fn messages(
    live: &Live,
    reader: &Reader,
    thread: &Thread,
    wanted: &str,
    mut before: Option<u64>,
    left: &mut Left,
) -> Result<ThreadMatch> {
    loop {
        let page = live.thread_posts(&thread.id, before, PORTION)?;
        for seq in page.seqs.iter().rev() {
            if !left.is_some() {
                return Ok(ThreadMatch::Stopped(before.unwrap_or(seq + 1)));
            }
            if let Some(post) = post(live, reader, *seq)? {
                left.take(post.body.len());
                if post.body.to_lowercase().contains(wanted) {
                    return Ok(ThreadMatch::Holds);
                }
            }
            before = Some(*seq);
        }
        if !page.older {
            return Ok(ThreadMatch::HoldsNot);
        }
    }
}
