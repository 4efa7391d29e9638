//! Fold of threads.

use super::Thread;
use super::row::{NUMBERED, POSTS, TaskThread, author_key, number, task_thread_key, thread_key};
use super::shown::post_line;
use crate::event::thread::{Posted, ThreadAct, ThreadFact, ThreadStarted};
use crate::prelude::*;

/// Folds an event. Events of an unknown thread, and a second start, change nothing.
pub(crate) fn apply(tx: &mut Tx<'_>, recorded: Recorded<'_>) -> Result<()> {
    let Fact::Thread(fact) = recorded.fact else {
        return Ok(());
    };
    match &fact.act {
        ThreadAct::Started(started) => start(tx, recorded.event, &fact.thread_id, started),
        ThreadAct::Posted(posted) => change(tx, recorded.event, fact, |tx, row| {
            post(tx, recorded.event, &fact.thread_id, posted, row);
            Ok(())
        }),
        ThreadAct::Linked(linked) => change(tx, recorded.event, fact, |tx, row| {
            unlink(tx, &fact.thread_id, row.task_id.as_deref())?;
            row.task_id = Some(linked.task_id.clone());
            link(tx, &fact.thread_id, row.task_id.as_deref())
        }),
    }
}

fn start(tx: &mut Tx<'_>, event: &Event<'_>, id: &str, started: &ThreadStarted) -> Result<()> {
    let key = thread_key(id);
    if tx.has(&key)? {
        return Ok(());
    }
    if let Some(number) = number(id) {
        tx.raise(&[NUMBERED], number)?;
    }
    let row = Thread {
        id: id.to_owned(),
        first: event.seq,
        seq: event.seq,
        created_at: event.created_at,
        updated_at: event.created_at,
        title: started.title.clone(),
        participants: started.participants.clone(),
        task_id: started.task_id.clone(),
        trace_id: event.refs.get(RefKind::Trace).map(str::to_owned),
        ..Thread::default()
    };
    tx.put(&key, &row);
    link(tx, id, row.task_id.as_deref())
}

/// Makes a thread the thread of its task, if the task has none.
fn link(tx: &mut Tx<'_>, id: &str, task_id: Option<&str>) -> Result<()> {
    let Some(key) = task_id.map(task_thread_key) else {
        return Ok(());
    };
    if !tx.has(&key)? {
        let thread_id = id.to_owned();
        tx.put(&key, &TaskThread { thread_id });
    }
    Ok(())
}

/// Removes the link between a task and its thread, if the given thread is the thread of the task.
fn unlink(tx: &mut Tx<'_>, id: &str, task_id: Option<&str>) -> Result<()> {
    let Some(key) = task_id.map(task_thread_key) else {
        return Ok(());
    };
    let linked: Option<TaskThread> = tx.get(&key)?;
    if linked.is_some_and(|linked| linked.thread_id == id) {
        tx.delete(&key);
    }
    Ok(())
}

fn change(
    tx: &mut Tx<'_>,
    event: &Event<'_>,
    fact: &ThreadFact,
    with: impl FnOnce(&mut Tx<'_>, &mut Thread) -> Result<()>,
) -> Result<()> {
    let key = thread_key(&fact.thread_id);
    let Some(mut row) = tx.get::<Thread>(&key)? else {
        return Ok(());
    };
    row.seq = event.seq;
    row.updated_at = event.created_at;
    if row.trace_id.is_none() {
        row.trace_id = event.refs.get(RefKind::Trace).map(str::to_owned);
    }
    with(tx, &mut row)?;
    tx.put(&key, &row);
    Ok(())
}

fn post(tx: &mut Tx<'_>, event: &Event<'_>, id: &str, posted: &Posted, row: &mut Thread) {
    row.messages += 1;
    row.view_bytes += post_line(event, id, posted).len() as u64;
    row.last_post = Some((event.seq, event.id));
    tx.mark(&numbered(POSTS, id, event.seq));
    tx.mark(&author_key(id, &posted.from));
}
