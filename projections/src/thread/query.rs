//! Queries of threads.

use super::Thread;
use super::row::{
    NUMBERED, OF_TASK, POSTS, THREAD, TaskThread, authors_key, task_thread_key, thread_key,
};
use crate::natural;
use crate::prelude::*;

impl TeamState {
    /// Returns the thread with this id.
    pub fn thread(&self, id: &str) -> Result<Option<Thread>> {
        let thread: Option<Thread> = self.rows().get(&thread_key(id))?;
        let id = id.to_owned();
        Ok(thread.map(|thread| Thread { id, ..thread }))
    }
    /// Returns threads whose ids come before `before`, in descending order.
    pub fn threads_before(&self, before: Option<&str>, limit: usize) -> Result<Vec<Thread>> {
        let end = match before {
            None => end_of(&[THREAD]),
            Some(id) => thread_key(id),
        };
        let found = self.rows().walk(&[THREAD], &end, true).take(limit);
        found.map(|entry| of_entry(&entry?)).collect()
    }
    /// Returns the newest `limit` messages of a thread before event `before`, oldest first.
    pub fn thread_posts(&self, id: &str, before: Option<u64>, limit: usize) -> Result<SeqPage> {
        self.rows()
            .page(&key::series(POSTS, id.as_bytes()), before, limit)
    }
    /// Returns the thread of a task, which has the comments on the task.
    pub fn thread_of_task(&self, task_id: &str) -> Result<Option<Thread>> {
        let linked: Option<TaskThread> = self.rows().get(&task_thread_key(task_id))?;
        linked.map_or(Ok(None), |linked| self.thread(&linked.thread_id))
    }
    /// Returns the number of comments on a task.
    pub fn comments(&self, task_id: &str) -> Result<u64> {
        let thread = self.thread_of_task(task_id)?;
        Ok(thread.map_or(0, |thread| thread.messages))
    }
    /// Returns true if any task has a thread.
    pub fn has_task_threads(&self) -> Result<bool> {
        let first = self.rows().prefix(&[OF_TASK], false).next();
        Ok(first.transpose()?.is_some())
    }
    /// Returns the first `limit` authors of a thread's posts, sorted by name.
    pub fn thread_authors(&self, id: &str, limit: usize) -> Result<Vec<String>> {
        let authors = authors_key(id);
        let found = self.rows().prefix(&authors, false).take(limit);
        found.map(|entry| Ok(entry?.name(authors.len()))).collect()
    }
    /// Returns a number that is larger than the number of every thread.
    pub fn next_thread_number(&self) -> Result<u64> {
        self.rows().next_number(&[NUMBERED])
    }
}

/// Returns every thread, in natural order of the ids.
pub(crate) fn all(rows: Rows<'_>) -> impl Iterator<Item = Result<Thread>> + use<'_> {
    rows.prefix(&[THREAD], false).map(|entry| of_entry(&entry?))
}

/// Returns every message of a thread, oldest first.
pub(crate) fn seqs<'a>(rows: Rows<'a>, id: &str) -> impl Iterator<Item = Result<u64>> + use<'a> {
    rows.prefix(&key::series(POSTS, id.as_bytes()), false)
        .map(|entry| Ok(entry?.seq()))
}

fn of_entry(entry: &Entry<'_>) -> Result<Thread> {
    // A key that cannot be decoded gives an empty id; the other fields are in the row.
    let id = natural::decode(entry.behind(1)).unwrap_or_default();
    let thread = entry.row()?;
    Ok(Thread { id, ..thread })
}
