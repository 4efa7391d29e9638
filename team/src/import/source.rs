//! The messages in the input of an import, and the position of each message in the input.

use crate::failure::{Failure, Result};
use crate::handle::team::input_fault;
use crate::import::report::Report;
use crate::log::lines::{Lines, unreadable};
use crate::projections::Envelope;
use crate::projections::Status;
use crate::projections::message::{InvalidMessage, Message, Names, Unapplied};
use std::io::{BufRead, Seek, SeekFrom};
use teamlog_engine::limits::EVENT_BYTES_MAX;
use teamlog_engine::{Durability, NewEvent, State, Timestamp, Writer};

/// A message of the input: its key, its agents, and its position in the input.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub created_at: Timestamp,
    pub id: Box<str>,
    pub from: Box<str>,
    pub to: Box<str>,
    pub line: u64,
    offset: u64,
    pub len: u32,
    /// Parts of the message that cannot be applied to the message's task.
    pub unapplied: Vec<Unapplied>,
    /// Task that the message reports as completed.
    pub completes: Option<Box<str>>,
    /// The message itself, if there was room for it in memory. Otherwise the message is read a
    /// second time.
    held: Option<Box<Message>>,
}

/// Maximum number of bytes of lines that stay in memory between the two passes.
const HELD_BYTES_MAX: u64 = 32 << 20;

pub(crate) enum ImportResult {
    Imported {
        created: bool,
        count: u64,
        first: Option<u64>,
        last: Option<u64>,
    },
    Rejected,
}

pub(crate) fn append<S: State>(writer: &Writer<S>, event: NewEvent) -> Result<Option<u64>> {
    let appended = writer.append(vec![event], Durability::Buffered);
    Ok(appended.map_err(input_fault)?.map(|last| last.last_seq))
}

/// Reads the whole input once. Returns the valid messages of the input in the order of `(created_at, id)`. If several lines have
/// the same id, uses the first of these lines. If `latest` is given, a message with a later time is malformed.
pub(crate) fn index<R: BufRead>(
    source: &mut R,
    latest: Option<Timestamp>,
    report: &mut Report,
) -> Result<Vec<Entry>> {
    let mut lines = Lines::new(source);
    let mut entries = Vec::new();
    loop {
        let line = match lines.next() {
            Ok(Some(line)) => line,
            Ok(None) => break,
            Err(Failure::Refused(refusal)) => {
                report.malformed(lines.number(), refusal.message);
                continue;
            }
            Err(failed) => return Err(failed),
        };
        match message(&line.text).and_then(|message| not_after(message, latest)) {
            Err(invalid) => report.malformed(line.number, invalid.to_string()),
            Ok(message) => entries.push(Entry {
                created_at: message.created_at,
                id: message.id.as_str().into(),
                from: message.from.as_str().into(),
                to: message.to.as_str().into(),
                line: line.number,
                offset: line.offset,
                len: line.text.len() as u32,
                unapplied: message.unapplied(),
                completes: completes(&message),
                held: (line.offset < HELD_BYTES_MAX).then(|| Box::new(message)),
            }),
        }
    }
    drop_repeated(&mut entries, report);
    entries.sort_unstable_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
    Ok(entries)
}

/// Returns the task that a message reports as completed.
fn completes(message: &Message) -> Option<Box<str>> {
    let id = message.task_id.as_deref()?;
    (message.reported_status() == Some(Status::Completed)).then(|| id.into())
}

/// Returns an entry's message. Reads the message again if the message is not in memory. `at` is the position of the source.
pub(crate) fn read<R: BufRead + Seek>(
    source: &mut R,
    at: &mut u64,
    entry: &mut Entry,
) -> Result<Message> {
    if let Some(message) = entry.held.take() {
        return Ok(*message);
    }
    // Seeks relative to the current position, which keeps the content of the reader's buffer. A distance beyond an `i64` needs an absolute
    // seek.
    match i64::try_from(i128::from(entry.offset) - i128::from(*at)) {
        Ok(distance) => source.seek_relative(distance),
        Err(_) => source.seek(SeekFrom::Start(entry.offset)).map(drop),
    }
    .map_err(unreadable)?;
    let mut bytes = vec![0; entry.len as usize];
    source.read_exact(&mut bytes).map_err(unreadable)?;
    *at = entry.offset + u64::from(entry.len);
    let text = std::str::from_utf8(&bytes).map_err(|_| changed(entry))?;
    match message(text) {
        Ok(message) if *message.id == *entry.id && message.created_at == entry.created_at => {
            Ok(message)
        }
        _ => Err(changed(entry)),
    }
}

fn changed(entry: &Entry) -> Failure {
    let why = format!("line {} changed while it was imported", entry.line);
    unreadable(std::io::Error::new(std::io::ErrorKind::InvalidData, why))
}

/// Parses a line as a message. The line must have an id and a time, because the import generates
/// neither.
fn message(text: &str) -> Result<Message, InvalidMessage> {
    let envelope = Envelope::parse(text)?;
    let given = [
        ("message.id", envelope.id.is_some()),
        ("message.created_at", envelope.created_at.is_some()),
    ];
    if let Some((field, _)) = given.iter().find(|(_, given)| !given) {
        return Err(InvalidMessage {
            field,
            value: "missing".into(),
            rule: "must be given in imported history".into(),
        });
    }
    let message = envelope.complete(Names::Imported, Timestamp::MAX, 0)?;
    fitting(message)
}

/// Maximum number of bytes of an event without its payload.
pub(crate) const EVENT_REST_BYTES_MAX: usize = 2048;

/// Checks that the message fits into an event.
pub(crate) fn fitting(message: Message) -> Result<Message, InvalidMessage> {
    let bytes = message.sent()?.payload.as_str().len();
    match bytes + EVENT_REST_BYTES_MAX <= EVENT_BYTES_MAX {
        true => Ok(message),
        false => Err(InvalidMessage {
            field: "message",
            value: format!("{bytes} bytes long"),
            rule: format!("must fit into an event of {EVENT_BYTES_MAX} bytes"),
        }),
    }
}

fn not_after(message: Message, latest: Option<Timestamp>) -> Result<Message, InvalidMessage> {
    match latest {
        Some(latest) if message.created_at > latest => Err(InvalidMessage {
            field: "message.created_at",
            value: message.created_at.to_string(),
            rule: format!("must not be after now ({latest})"),
        }),
        _ => Ok(message),
    }
}

/// Removes entries with repeated ids. For each id, the entry of the first line stays.
fn drop_repeated(entries: &mut Vec<Entry>, report: &mut Report) {
    entries.sort_unstable_by(|a, b| (&a.id, a.line).cmp(&(&b.id, b.line)));
    entries.dedup_by(|next, kept| {
        let same = next.id == kept.id;
        if same {
            let why = format!("line {} has it too", kept.line);
            report.duplicate(next.line, &next.id, &why);
        }
        same
    });
}
