//! Questions to the rows of threads.

use super::row::{NUMBERED, POSTS, THREAD, Thread, ThreadRow, thread_key};
use crate::live::SeqPage;
use crate::natural;
use crate::prelude::*;
use teamlog_engine::derived::key;

impl Live {
    /// A thread by its id.
    pub fn thread(&self, id: &str) -> Result<Option<Thread>> {
        let row: Option<ThreadRow> = self.rows().get(&thread_key(id))?;
        Ok(row.map(|row| shown(id.to_owned(), row)))
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
        let largest: Option<u64> = self.rows().get(&[NUMBERED])?;
        Ok(largest.unwrap_or_default() + 1)
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

fn of_entry(entry: &crate::tx::Entry<'_>) -> Result<Thread> {
    // A key that does not decode gives an empty id; the row still holds the rest.
    let id = natural::decode(entry.behind(1)).unwrap_or_default();
    Ok(shown(id, entry.row()?))
}

fn shown(id: String, row: ThreadRow) -> Thread {
    let last = row.last_post;
    Thread {
        id,
        title: row.title,
        participants: row.participants,
        task_id: row.task_id,
        trace_id: row.trace_id,
        messages: row.messages,
        first: row.first,
        seq: row.seq,
        created_at: time(row.created_at),
        updated_at: time(row.updated_at),
        last_post: last.and_then(|(seq, id)| Some((seq, EventId::from_bytes(id)?))),
        view_bytes: row.view_bytes,
    }
}
