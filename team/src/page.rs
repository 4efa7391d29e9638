//! Pages of a listing: their limits, their cursors, and the events that a cursor names.

use crate::failure::Result;
use crate::projections::RefKind;
use crate::projections::message::Message;
use crate::projections::{Error, Live};
use crate::refusal::{Code, Refusal};
use std::ops::ControlFlow;
use teamlog_engine::{Event, EventId, Reader};

/// Items of a page unless the caller says otherwise.
pub const PAGE: usize = 50;

/// A page's limit: `default` where none is given, everything for 0.
pub(crate) fn limit(asked: Option<usize>, default: usize) -> usize {
    match asked.unwrap_or(default) {
        0 => usize::MAX,
        limit => limit,
    }
}

/// A page's limit where there is a most: `default` where none is given, or 0.
pub(crate) fn at_most(asked: Option<usize>, default: usize, most: usize) -> usize {
    match asked {
        None | Some(0) => default,
        Some(limit) => limit.min(most),
    }
}

/// A number that must lie between 1 and `most`.
pub(crate) fn within(
    field: &'static str,
    asked: Option<usize>,
    default: usize,
    most: usize,
) -> Result<usize, Refusal> {
    match asked.unwrap_or(default) {
        number if (1..=most).contains(&number) => Ok(number),
        number => Err(Refusal::invalid(
            field,
            number,
            format!("must be 1 to {most}"),
        )),
    }
}

/// Whether a reading of events goes on.
pub(crate) fn goes_on(more: bool) -> ControlFlow<()> {
    match more {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    }
}

/// Cuts what was found to a page; whether there was more.
pub(crate) fn cut<T>(found: &mut Vec<T>, limit: usize) -> bool {
    let more = found.len() > limit;
    found.truncate(limit);
    more
}

/// The JSON text of a value that always serialises.
pub(crate) fn json_text(value: &impl serde::Serialize) -> Option<String> {
    serde_json::to_string(value).ok()
}

/// The event with that seq, which the state covers.
pub(crate) fn event(live: &Live, reader: &Reader, seq: u64) -> Result<Event<'static>> {
    let event = live.event(reader, seq)?;
    Ok(event.ok_or_else(|| missing(seq))?)
}

/// The message that the event with that seq recorded.
pub(crate) fn sent(live: &Live, reader: &Reader, seq: u64) -> Result<Message> {
    let message = live.sent(reader, seq)?;
    Ok(message.ok_or_else(|| missing(seq))?)
}

pub(crate) fn missing(seq: u64) -> Error {
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
    let id = EventId::from_text(cursor.as_bytes());
    let event = id.map(|id| event_of(live, reader, id)).transpose()?;
    Ok(event.flatten().map(|event| event.seq))
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
    let task = task.map(|task| live.task(task)).transpose()?;
    Ok(task.flatten().and_then(|task| task.trace_id))
}
