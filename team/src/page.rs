//! Pages of a listing: limits, cursors, and the events that cursors name.

use crate::failure::Result;
use crate::projections::RefKind;
use crate::projections::message::Message;
use crate::projections::{Error, Live};
use crate::refusal::{Code, Refusal};
use std::ops::ControlFlow;
use teamlog_engine::{Event, EventId, Reader};

/// Default number of items on a page.
pub const PAGE: usize = 50;

/// Returns the limit of a page: `default` if `asked` is absent, and no limit if it is 0.
pub(crate) fn limit(asked: Option<usize>, default: usize) -> usize {
    match asked.unwrap_or(default) {
        0 => usize::MAX,
        limit => limit,
    }
}

/// Returns the limit of a page, at most `most`. If `asked` is absent or 0, the limit is `default`.
pub(crate) fn at_most(asked: Option<usize>, default: usize, most: usize) -> usize {
    match asked {
        None | Some(0) => default,
        Some(limit) => limit.min(most),
    }
}

/// Checks that a number is between 1 and `most`.
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

/// Returns `Continue` if `more` is true, else `Break`.
pub(crate) fn goes_on(more: bool) -> ControlFlow<()> {
    match more {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    }
}

/// Cuts a list to the limit of a page. Returns true if items were cut off.
pub(crate) fn cut<T>(found: &mut Vec<T>, limit: usize) -> bool {
    let more = found.len() > limit;
    found.truncate(limit);
    more
}

/// Returns the JSON text of a value.
pub(crate) fn json_text(value: &impl serde::Serialize) -> Option<String> {
    serde_json::to_string(value).ok()
}

/// Returns the event with the given seq. The state must cover that seq.
pub(crate) fn event(live: &Live, reader: &Reader, seq: u64) -> Result<Event<'static>> {
    let event = live.event(reader, seq)?;
    Ok(event.ok_or_else(|| missing(seq))?)
}

/// Returns the message that the event with the given seq recorded.
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

/// Returns the first seq in `1..=last` for whose event `before` is false; `last + 1` if there is none. Uses a binary search,
/// because the order by seq is also the order by time and by id.
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

/// Returns the seq of the event that a cursor names.
pub(crate) fn event_cursor(live: &Live, reader: &Reader, cursor: &str) -> Result<Option<u64>> {
    let id = EventId::from_text(cursor.as_bytes());
    let event = id.map(|id| event_of(live, reader, id)).transpose()?;
    Ok(event.flatten().map(|event| event.seq))
}

/// Returns the event with the given id.
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

/// Returns the seq of the event that a cursor names. The listing shows events before that seq. The event must have the given
/// ref.
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

/// Returns the refusal for a cursor that names no item of its listing.
pub(crate) fn unknown_cursor(cursor: &str, what: &str) -> Refusal {
    let message = format!(
        "cursor must be {what}, but is {}",
        crate::refusal::shown(cursor)
    );
    Refusal::new(Code::CursorUnknown, message).field("cursor")
}

/// Returns the trace of a task; `None` if the task has no trace.
pub(crate) fn trace_of_task(live: &Live, task: Option<&str>) -> Result<Option<String>> {
    let task = task.map(|task| live.task(task)).transpose()?;
    Ok(task.flatten().and_then(|task| task.trace_id))
}
