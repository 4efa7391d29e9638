//! `threads/<id>.json`, a thread, and `threads/<id>.jsonl`, one line per message of the thread, append-only.
//!
//! The fold counts the length of the complete lines, as it does for inboxes.

use crate::event::thread::{Posted, ThreadAct};
use crate::files::{Home, Take, ViewUpdate, Walk, in_pieces, pretty};
use crate::prelude::*;
use crate::thread::{self, ThreadShown, post_line};

pub(crate) const DIR: &str = "threads";

/// New lines of each changed thread.
pub(crate) type TouchedThreads = BTreeMap<String, Vec<u8>>;

/// Returns the name of a thread's file; the id was checked when its event was decoded.
fn file_name(id: &str) -> String {
    format!("{id}.json")
}

/// Returns the name of the file with the thread's messages.
fn lines_name(id: &str) -> String {
    format!("{id}.jsonl")
}

/// Notes the change of a thread by an event.
pub(crate) fn note(
    touched: &mut TouchedThreads,
    live: &TeamState,
    event: &Event<'_>,
    (id, posted): (String, Option<&Posted>),
) -> Result<()> {
    let Some(thread) = live.thread(&id)? else {
        return Ok(());
    };
    // A post recorded before the thread's start is not part of the thread.
    let posted = posted.filter(|_| thread.first < event.seq);
    let line = posted.map(|posted| post_line(event, &id, posted));
    let lines = touched.entry(id).or_default();
    lines.extend(line.unwrap_or_default());
    Ok(())
}

/// Writes the files of the threads that events changed.
pub(crate) fn write(
    live: &TeamState,
    log: &Log,
    home: &Home,
    touched: &TouchedThreads,
) -> Result<ViewUpdate> {
    if !home.exists(DIR)? {
        let reader = log.reader()?;
        return Walk::mend(home, |to| walk(live, &reader, to));
    }
    let mut written = 0;
    for (id, lines) in touched {
        let Some(thread) = live.thread(id)? else {
            continue;
        };
        let head = home.path(DIR).join(file_name(id));
        home.replace(&head, &pretty(&ThreadShown::from(&thread)))?;
        let path = home.path(DIR).join(lines_name(id));
        if !lines.is_empty() && !home.grow(&path, lines, thread.view_bytes)? {
            let reader = log.reader()?;
            home.build(&path, |take| each_piece(live, &reader, id, take))?;
        }
        written += 1;
    }
    Ok(ViewUpdate::written(written))
}

pub(crate) fn walk(live: &TeamState, reader: &Reader, to: &mut Walk<'_>) -> Result<()> {
    for thread in thread::all(live.rows()) {
        let thread = thread?;
        let head = pretty(&ThreadShown::from(&thread));
        to.file(DIR, &file_name(&thread.id), &head)?;
        if thread.messages > 0 {
            to.lines(DIR, &lines_name(&thread.id), |take| {
                each_piece(live, reader, &thread.id, take)
            })?;
        }
    }
    to.end(DIR)
}

/// Passes the lines of a thread to `take`, in pieces.
fn each_piece(live: &TeamState, reader: &Reader, id: &str, take: Take<'_>) -> Result<()> {
    in_pieces(thread::seqs(live.rows(), id), take, |seq, text| {
        let Some(event) = live.event(reader, seq)? else {
            return Ok(());
        };
        if let Fact::Thread(fact) = Fact::decode(&event)?
            && let ThreadAct::Posted(posted) = &fact.act
        {
            text.extend(post_line(&event, &fact.thread_id, posted));
        }
        Ok(())
    })
}
