//! `threads/<id>.json` and `threads/<id>.jsonl`: a thread, and one line per message of it, only ever growing.
//!
//! The fold knows how long the lines are when they are whole, as it does for inboxes.

use crate::error::Result;
use crate::fact::Fact;
use crate::live::Live;
use crate::thread::event::{Posted, ThreadAct};
use crate::thread::{self, Thread, ThreadShown, post_line};
use crate::views::mend::{put, remove_others};
use crate::views::{Home, Mended, failed};
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::Path;
use teamlog_engine::storage::Open;
use teamlog_engine::{Event, Reader};

pub(crate) const DIR: &str = "threads";

/// Lines are compared and written in pieces of about this size.
const PIECE_BYTES: usize = 1 << 20;

/// The new lines of each thread that some events touched.
pub(crate) type TouchedThreads = BTreeMap<String, Vec<u8>>;

/// The file of a thread itself; its id was checked when its event was decoded.
pub(crate) fn file_name(id: &str) -> String {
    format!("{id}.json")
}

/// The file of what was said.
pub(crate) fn lines_name(id: &str) -> String {
    format!("{id}.jsonl")
}

/// The content of a thread's own file.
pub(crate) fn text(thread: &Thread) -> Vec<u8> {
    // Into memory nothing fails.
    let mut text = serde_json::to_vec_pretty(&ThreadShown::from(thread)).unwrap_or_default();
    text.push(b'\n');
    text
}

/// Notes what an event says of a thread.
pub(crate) fn note(
    touched: &mut TouchedThreads,
    live: &Live,
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
pub(crate) fn write(live: &Live, home: &Home, touched: &TouchedThreads) -> Result<Mended> {
    if !home.exists(DIR)? {
        return mend(live, &live.log().reader()?, home);
    }
    let mut mended = Mended::default();
    for (id, lines) in touched {
        let Some(thread) = live.thread(id)? else {
            continue;
        };
        let head = home.path(DIR).join(file_name(id));
        home.replace(&head, &text(&thread))?;
        let path = home.path(DIR).join(lines_name(id));
        if !lines.is_empty() && !home.grow(&path, lines, thread.view_bytes)? {
            rebuild(live, &live.log().reader()?, home, &thread)?;
        }
        mended.written += 1;
    }
    Ok(mended)
}

/// Brings `threads/` in line with the state.
pub(crate) fn mend(live: &Live, reader: &Reader, home: &Home) -> Result<Mended> {
    let mut mended = Mended::default();
    let mut threads = thread::all(live.rows()).peekable();
    if threads.peek().is_none() && !home.exists(DIR)? {
        return Ok(mended);
    }
    let dir = home.path(DIR);
    home.storage
        .create_dir(&dir)
        .map_err(failed("create", &dir))?;
    let mut names = BTreeSet::new();
    for thread in threads {
        let thread = thread?;
        let (head, lines) = (file_name(&thread.id), lines_name(&thread.id));
        mended.add(Mended::one(put(home, &dir.join(&head), &text(&thread))?));
        names.insert(head);
        if thread.messages > 0 {
            let whole = is_whole(live, reader, home, &thread)?;
            if !whole {
                rebuild(live, reader, home, &thread)?;
            }
            mended.add(Mended::one(!whole));
            names.insert(lines);
        }
    }
    mended.removed += remove_others(home, DIR, &names)?;
    Ok(mended)
}

/// Shows the lines of a thread in pieces; goes on for as long as it is told to.
pub(crate) fn each_piece(
    live: &Live,
    reader: &Reader,
    id: &str,
    mut take: impl FnMut(&[u8]) -> Result<bool>,
) -> Result<bool> {
    let mut text = Vec::new();
    for seq in thread::seqs(live.rows(), id) {
        if let Some(event) = live.event(reader, seq?)? {
            text.extend(line(&event)?);
        }
        if text.len() >= PIECE_BYTES {
            if !take(&text)? {
                return Ok(false);
            }
            text.clear();
        }
    }
    take(&text)
}

fn line(event: &Event<'_>) -> Result<Vec<u8>> {
    Ok(match Fact::decode(event)? {
        Fact::Thread(fact) => match &fact.act {
            ThreadAct::Posted(posted) => post_line(event, &fact.thread_id, posted),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    })
}

/// Whether the file of a thread's messages is what it has to be.
fn is_whole(live: &Live, reader: &Reader, home: &Home, thread: &Thread) -> Result<bool> {
    let path = home.path(DIR).join(lines_name(&thread.id));
    let file = match home.storage.open(&path, Open::Read) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(failed("open", &path)(error)),
    };
    if file.stat().map_err(failed("look at", &path))?.len != thread.view_bytes {
        return Ok(false);
    }
    let mut at = 0;
    each_piece(live, reader, &thread.id, |text| {
        let mut there = vec![0; text.len()];
        let read = file.read_exact_at(&mut there, at);
        at += text.len() as u64;
        match read {
            Ok(()) => Ok(there == text),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(failed("read", &path)(error)),
        }
    })
}

/// Builds the file of a thread's messages anew, beside and renamed whole.
fn rebuild(live: &Live, reader: &Reader, home: &Home, thread: &Thread) -> Result<()> {
    let dir = home.path(DIR);
    let path = dir.join(lines_name(&thread.id));
    let aside = dir.join(format!("{}.tmp", lines_name(&thread.id)));
    fill(live, reader, home, (&thread.id, &aside))?;
    home.storage
        .rename(&aside, &path)
        .map_err(failed("rename", &aside))
}

fn fill(live: &Live, reader: &Reader, home: &Home, (id, aside): (&str, &Path)) -> Result<()> {
    let file = home
        .storage
        .open(aside, Open::Create)
        .map_err(failed("open", aside))?;
    file.set_len(0).map_err(failed("cut", aside))?;
    let mut at = 0;
    each_piece(live, reader, id, |text| {
        file.write_all_at(text, at)
            .map_err(failed("write", aside))?;
        at += text.len() as u64;
        Ok(true)
    })?;
    Ok(())
}
