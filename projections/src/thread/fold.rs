//! Fold of threads.

use super::Thread;
use super::row::{NUMBERED, POSTS, number, thread_key};
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
        }),
        ThreadAct::Linked(linked) => change(tx, recorded.event, fact, |_, row| {
            row.task_id = Some(linked.task_id.clone());
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
    Ok(())
}

fn change(
    tx: &mut Tx<'_>,
    event: &Event<'_>,
    fact: &ThreadFact,
    with: impl FnOnce(&mut Tx<'_>, &mut Thread),
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
    with(tx, &mut row);
    tx.put(&key, &row);
    Ok(())
}

fn post(tx: &mut Tx<'_>, event: &Event<'_>, id: &str, posted: &Posted, row: &mut Thread) {
    row.messages += 1;
    row.view_bytes += post_line(event, id, posted).len() as u64;
    row.last_post = Some((event.seq, event.id));
    tx.mark(&numbered(POSTS, id, event.seq));
}
