//! Questions to the rows of threads.

use super::Thread;
use super::row::{NUMBERED, POSTS, THREAD, thread_key};
use crate::natural;
use crate::prelude::*;

impl TeamState {
    /// A thread by its id.
    pub fn thread(&self, id: &str) -> Result<Option<Thread>> {
        let thread: Option<Thread> = self.rows().get(&thread_key(id))?;
        let id = id.to_owned();
        Ok(thread.map(|thread| Thread { id, ..thread }))
    }
    /// Threads whose ids come before `before`, the last one first.
    pub fn threads_before(&self, before: Option<&str>, limit: usize) -> Result<Vec<Thread>> {
        let end = match before {
            None => end_of(&[THREAD]),
            Some(id) => thread_key(id),
        };
        let found = self.rows().walk(&[THREAD], &end, true).take(limit);
        found.map(|entry| of_entry(&entry?)).collect()
    }
    /// The newest `limit` messages of a thread before event `before`, oldest first.
    pub fn thread_posts(&self, id: &str, before: Option<u64>, limit: usize) -> Result<SeqPage> {
        self.rows()
            .page(&key::series(POSTS, id.as_bytes()), before, limit)
    }
    /// A number that is the id of no thread, larger than all that are.
    pub fn next_thread_number(&self) -> Result<u64> {
        self.rows().next_number(&[NUMBERED])
    }
}

/// Every thread, in natural order of the ids.
pub(crate) fn all(rows: Rows<'_>) -> impl Iterator<Item = Result<Thread>> + use<'_> {
    rows.prefix(&[THREAD], false).map(|entry| of_entry(&entry?))
}

/// Every message of a thread, oldest first.
pub(crate) fn seqs<'a>(rows: Rows<'a>, id: &str) -> impl Iterator<Item = Result<u64>> + use<'a> {
    rows.prefix(&key::series(POSTS, id.as_bytes()), false)
        .map(|entry| Ok(entry?.seq()))
}

fn of_entry(entry: &Entry<'_>) -> Result<Thread> {
    // A key that does not decode gives an empty id; the row still holds the rest.
    let id = natural::decode(entry.behind(1)).unwrap_or_default();
    let thread = entry.row()?;
    Ok(Thread { id, ..thread })
}
