//! Checks of events before they are written, and rules that follow from their order.

use super::reservation::Room;
use crate::codec::{self};
use crate::identifier::{is_identifier, is_kind};
use crate::limits;
use crate::prelude::*;
use crate::refs::{Ref, RefNames};

pub(super) fn places(segment: u32, start: u64, frames: &[u32]) -> Vec<Place> {
    let mut offset = start;
    let place = |len: &u32| {
        let place = Place {
            segment,
            offset,
            len: *len,
        };
        offset += u64::from(*len);
        place
    };
    frames.iter().map(place).collect()
}

pub(super) fn crcs(format: crate::identity::Format, group: &[u8], frames: &[u32]) -> Vec<u32> {
    let mut rest = group;
    let crc = |len: &u32| {
        let (frame, behind) = rest.split_at_checked(*len as usize)?;
        rest = behind;
        codec::stored_crc(format, frame)
    };
    frames.iter().map_while(crc).collect()
}

/// Checks the limits of an append; returns its size in canonical bytes.
pub(super) fn check_sizes(names: &RefNames, events: &[Event<'static>]) -> Result<usize> {
    let mut bytes = 0;
    for event in events {
        let len = codec::canonical_len_of(names, event);
        if len > limits::EVENT_BYTES_MAX {
            return Err(Error::too_large(
                "an event",
                len as u64,
                limits::EVENT_BYTES_MAX as u64,
            ));
        }
        bytes += len;
    }
    if bytes > limits::GROUP_BYTES_MAX {
        return Err(Error::too_large(
            "a group",
            bytes as u64,
            limits::GROUP_BYTES_MAX as u64,
        ));
    }
    if events.len() > limits::GROUP_EVENTS_MAX {
        let (len, max) = (events.len() as u64, limits::GROUP_EVENTS_MAX as u64);
        return Err(Error::invalid(
            "group size",
            format!("{len} events"),
            format!("must be at most {max} events"),
        ));
    }
    Ok(bytes)
}

/// Like [`check_sizes`], for a group that reserves room for more events.
pub(super) fn check_group(
    names: &RefNames,
    events: &[Event<'static>],
    room: Room,
) -> Result<usize> {
    let bytes = check_sizes(names, events)?;
    let max = limits::GROUP_BYTES_MAX.saturating_sub(room.bytes);
    if bytes > max {
        let what = "a group beside the answer that is stored in it";
        return Err(Error::too_large(what, bytes as u64, max as u64));
    }
    Ok(bytes)
}

pub(super) fn check_strings(names: &RefNames, new: &NewEvent) -> Result<()> {
    if !is_kind(&new.kind) {
        let rule = format!(
            "must match ^[a-z][a-z0-9_]*$ and have at most {} bytes",
            limits::IDENTIFIER_BYTES_MAX
        );
        return Err(Error::invalid("kind", shortened(&new.kind), rule));
    }
    check_identifier("actor", &new.actor)?;
    for known in Ref::ALL {
        let Some(value) = new.refs.get(known) else {
            continue;
        };
        let Some(name) = names.name(known) else {
            let rule = format!("must be refs that the log declares [{names}]");
            return Err(Error::invalid("refs", known.index().to_string(), rule));
        };
        check_identifier(name, value)?;
    }
    Ok(())
}

fn check_identifier(field: &str, value: &str) -> Result<()> {
    match is_identifier(value) {
        true => Ok(()),
        false => {
            let rule = format!(
                "must have 1 to {} bytes and no control characters",
                limits::IDENTIFIER_BYTES_MAX
            );
            Err(Error::invalid(field.to_owned(), shortened(value), rule))
        }
    }
}

pub(super) fn shortened(value: &str) -> String {
    let mut text: String = value
        .chars()
        .take(60)
        .flat_map(char::escape_debug)
        .collect();
    if value.chars().count() > 60 {
        text.push('…');
    }
    format!("\"{text}\"")
}

/// Returns the time of the first of `count` live events. The time is the current time, but after the last event and not before
/// `floor`. If the events would cross midnight, the time is the next midnight.
pub(super) fn live_time(
    now: Timestamp,
    last: Option<EventId>,
    floor: Timestamp,
    count: usize,
) -> Timestamp {
    let now = now.max(floor);
    let first = last.map_or(now, |last| now.max(last.created_at().plus_micros(1)));
    let end = first.plus_micros(count.saturating_sub(1) as i64);
    if end.day_start() == first.day_start() {
        first
    } else {
        first.next_day()
    }
}

pub(super) fn not_before(
    given: Timestamp,
    last: Option<EventId>,
    floor: Timestamp,
) -> Result<Timestamp> {
    let earliest = last.map_or(floor, |last| floor.max(last.created_at()));
    if given >= earliest {
        return Ok(given);
    }
    Err(Error::invalid(
        "created_at",
        given.to_string(),
        format!("must not be before the end of the log, {earliest}"),
    ))
}

pub(super) fn greater(
    given: EventId,
    created_at: Timestamp,
    last: Option<EventId>,
) -> Result<EventId> {
    let rule = match last {
        Some(last) if given <= last => format!("must be greater than the last event's id {last}"),
        _ if given.created_at() != created_at => format!("must encode created_at, {created_at}"),
        _ => return Ok(given),
    };
    Err(Error::invalid("id", given.to_string(), rule))
}

/// Checks that `id` follows the last id. After the last ids of the year 9999 no id follows; a smaller id would damage
/// the log.
pub(super) fn behind(last: Option<EventId>, id: EventId) -> Result<EventId> {
    if last.is_none_or(|last| last < id) {
        return Ok(id);
    }
    Err(Error::invalid(
        "created_at",
        id.created_at().to_string(),
        "must be earlier than the last time that an event id can encode",
    ))
}

/// Returns the id of event `index` of the append whose events begin at index `first` of the pending events.
pub(super) fn earlier(pending: &[Event<'static>], first: usize, index: usize) -> Result<EventId> {
    let at = first.checked_add(index);
    at.and_then(|at| pending.get(at))
        .map(|event| event.id)
        .ok_or_else(|| {
            Error::invalid(
                "cause",
                index.to_string(),
                "must name an earlier event of the same append",
            )
        })
}
