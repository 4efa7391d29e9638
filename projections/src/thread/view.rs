//! `threads/<id>.json` and `threads/<id>.jsonl`: a thread, and one line per message of it, only ever growing.
//!
//! The fold knows how long the lines are when they are whole, as it does for inboxes.

use crate::event::thread::{Posted, ThreadAct};
use crate::files::{Home, Mended, Take, Walk, in_pieces, pretty};
use crate::prelude::*;
use crate::thread::{self, ThreadShown, post_line};

pub(crate) const DIR: &str = "threads";

/// The new lines of each thread that some events touched.
pub(crate) type TouchedThreads = BTreeMap<String, Vec<u8>>;

/// The file of a thread itself; its id was checked when its event was decoded.
fn file_name(id: &str) -> String {
    format!("{id}.json")
}

/// The file of what was said.
fn lines_name(id: &str) -> String {
    format!("{id}.jsonl")
}

/// Notes what an event says of a thread.
pub(crate) fn note(
    touched: &mut TouchedThreads,
    live: &TeamState,
    event: &Event<'_>,
    (id, posted): (String, Option<&Posted>),
) -> Result<()> {
    let Some(thread) = live.thread(&id)? else {
        return Ok(());
    };
    // What was said before the thread began is not in it.
    let posted = posted.filter(|_| thread.first < event.seq);
    let line = posted.map(|posted| post_line(event, &id, posted));
    let lines = touched.entry(id).or_default();
    lines.extend(line.unwrap_or_default());
    Ok(())
}

/// Writes the files of the threads that some events touched.
pub(crate) fn write(
    live: &TeamState,
    log: &Log,
    home: &Home,
    touched: &TouchedThreads,
) -> Result<Mended> {
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
    Ok(Mended::written(written))
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

/// Shows the lines of a thread in pieces.
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
