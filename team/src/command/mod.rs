//! The commands and queries, one a file: input, rule, answer.
//!
//! A mutation decides purely: on state, input and time. A query is a plain function of state.

pub mod ack;
pub mod append;
pub mod append_batch;
pub mod append_event;
pub mod approval;
pub mod artifact;
mod await_ack;
pub mod await_event;
pub mod backup;
pub mod bootstrap_list;
pub mod bootstrap_record;
pub mod bootstrap_show;
pub mod bootstrap_start;
pub mod bootstrap_tick;
pub mod broadcast;
pub mod can_write;
pub mod claim_next;
pub mod cleanup;
pub mod config;
pub mod convert;
pub mod dead_letter;
pub mod diff;
pub mod events;
pub mod export;
pub mod gauges;
pub mod head;
pub mod idle;
pub mod import_events;
pub mod import_messages;
pub mod import_report;
mod import_source;
pub mod import_team_chat;
pub mod inbox_feed;
pub mod init;
pub mod keygen;
pub mod leader_attention;
pub mod mailbox_list;
pub mod mailbox_mark;
pub mod manifest;
pub mod mode_clear;
pub mod mode_end;
pub mod mode_explain;
pub mod mode_outcome;
pub mod mode_prompt;
pub mod mode_sessions;
pub mod mode_show;
pub mod mode_start;
pub mod mode_write;
pub mod monitor_snapshot;
pub mod nudge;
pub mod prime;
pub mod purge;
pub mod read;
pub mod read_events;
pub mod ready;
pub mod rehydrate;
pub mod replay;
pub mod restore;
pub mod send;
pub mod send_message;
pub mod shutdown;
pub mod stall;
pub mod state;
pub mod status;
pub mod summary;
pub mod tail;
pub mod task_assign;
pub mod task_cancel;
pub mod task_change;
pub mod task_claim;
pub mod task_create;
pub mod task_finish;
pub mod task_read;
pub mod task_release;
pub mod task_renew;
pub mod task_reopen;
pub mod task_show;
pub mod task_update;
pub mod tasks;
mod team_chat_config;
mod team_chat_events;
mod team_chat_history;
pub mod team_chat_source;
pub mod team_setup;
pub mod teams;
pub mod thread_link;
pub mod thread_post;
pub mod thread_search;
pub mod thread_start;
pub mod thread_tail;
pub mod tick;
pub mod trace;
pub mod traces;
pub mod usage;
pub mod verify;
pub mod wait;
pub mod who;
pub mod worker;
pub mod worker_status;

use crate::failure::Result;
use crate::projections::message::Message;
use crate::projections::{Error, Live};
use crate::refusal::{Code, Refusal};
use teamlog_engine::{Event, EventId, Reader, RefKind};

/// Items of a page unless the caller says otherwise.
pub const PAGE: usize = 50;

/// A page's limit: `default` where none is given, everything for 0.
pub(crate) fn limit(asked: Option<usize>, default: usize) -> usize {
    match asked.unwrap_or(default) {
        0 => usize::MAX,
        limit => limit,
    }
}

/// The JSON text of a value that always serialises.
pub(crate) fn json_text(value: &impl serde::Serialize) -> Option<String> {
    serde_json::to_string(value).ok()
}

/// The event with that seq, which the state covers.
pub(crate) fn event(live: &Live, reader: &Reader, seq: u64) -> Result<Event<'static>> {
    match live.event(reader, seq)? {
        Some(event) => Ok(event),
        None => Err(missing(seq).into()),
    }
}

/// The message that the event with that seq recorded.
pub(crate) fn sent(live: &Live, reader: &Reader, seq: u64) -> Result<Message> {
    match live.sent(reader, seq)? {
        Some(message) => Ok(message),
        None => Err(missing(seq).into()),
    }
}

fn missing(seq: u64) -> Error {
    Error::Undecodable {
        seq,
        kind: "unknown".into(),
        why: "the state names it, the log up to its head does not hold it".into(),
    }
}

/// The first seq in `1..=last` whose event does not lie before what `before` looks for; `last + 1` if all do.
/// Events are ordered by time and id as by seq, so that a bisection finds it.
pub(crate) fn first_not(
    live: &Live,
    reader: &Reader,
    last: u64,
    before: impl Fn(&Event<'static>) -> bool,
) -> Result<u64> {
    let (mut low, mut high) = (1, last + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        if before(&event(live, reader, middle)?) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

/// The seq of the event that a cursor names.
pub(crate) fn event_cursor(live: &Live, reader: &Reader, cursor: &str) -> Result<Option<u64>> {
    match EventId::from_text(cursor.as_bytes()) {
        Some(id) => Ok(event_of(live, reader, id)?.map(|event| event.seq)),
        None => Ok(None),
    }
}

/// The event of that id.
pub(crate) fn event_of(
    live: &Live,
    reader: &Reader,
    id: EventId,
) -> Result<Option<Event<'static>>> {
    let last = reader.head().last_seq;
    let seq = first_not(live, reader, last, |event| event.id < id)?;
    if seq > last {
        return Ok(None);
    }
    Ok(Some(event(live, reader, seq)?).filter(|event| event.id == id))
}

/// The seq before which a listing of the events with that ref goes on: that of the event which the cursor names and
/// which has that very ref.
pub(crate) fn before(
    live: &Live,
    reader: &Reader,
    (kind, value): (RefKind, &str),
    cursor: Option<&str>,
) -> Result<Option<u64>> {
    let Some(cursor) = cursor else {
        return Ok(None);
    };
    let what = match kind {
        RefKind::Trace => "the id of an event of this trace",
        RefKind::Task => "the id of an event of this task",
        _ => "the id of an event that is listed",
    };
    let unknown = || unknown_cursor(cursor, what);
    let seq = event_cursor(live, reader, cursor)?.ok_or_else(unknown)?;
    match event(live, reader, seq)?.refs.get(kind) == Some(value) {
        true => Ok(Some(seq)),
        false => Err(unknown().into()),
    }
}

/// The refusal of a cursor that names nothing in its listing.
pub(crate) fn unknown_cursor(cursor: &str, what: &str) -> Refusal {
    let message = format!(
        "cursor must be {what}, but is {}",
        crate::refusal::shown(cursor)
    );
    Refusal::new(Code::CursorUnknown, message).field("cursor")
}

/// The story that a task belongs to, if there is such a task and such a story.
pub(crate) fn trace_of_task(live: &Live, task: Option<&str>) -> Result<Option<String>> {
    match task {
        None => Ok(None),
        Some(task) => Ok(live.task(task)?.and_then(|task| task.trace_id)),
    }
}
