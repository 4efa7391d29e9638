//! Reserved places in the group of a job's events, for the events of its second step.

use super::checks::{check_sizes, check_strings};
use crate::event::Cause;
use crate::prelude::*;
use crate::refs::RefNames;

/// Limit for the events that a second step adds to its job's group. The default is no events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Room {
    /// Number of events.
    pub events: usize,
    /// Number of bytes of the events in canonical JSON.
    pub bytes: usize,
}

/// Reserved places. Their stamps are drawn and their bytes counted before the job's first events are folded, so that neither the
/// clock nor a limit can force the later events into another group.
pub(super) struct Reservation {
    places: Vec<(u64, EventId, Timestamp)>,
    /// Maximum number of bytes of the events in canonical JSON.
    bytes: usize,
}

impl Reservation {
    /// Returns a placeholder for an event that is not known yet.
    pub fn placeholder() -> NewEvent {
        let payload = crate::json::Json::from_canonical("{}".into());
        NewEvent::new("reserved", ENGINE_ACTOR, payload)
    }

    /// Creates the places from stamped placeholders.
    pub fn new(stamped: &[Event<'static>], bytes: usize) -> Reservation {
        let place = |event: &Event<'_>| (event.seq, event.id, event.created_at);
        let places = stamped.iter().map(place).collect();
        Reservation { places, bytes }
    }

    /// Returns the time of the first reserved place.
    pub fn created_at(&self) -> Option<Timestamp> {
        self.places.first().map(|(_, _, created_at)| *created_at)
    }

    /// Stamps the events for the places, and returns their size in bytes. Places that are not used stay free.
    ///
    /// # Errors
    /// The events exceed the room in number or bytes; an event breaks a rule.
    pub fn events(
        self,
        names: &RefNames,
        more: Vec<NewEvent>,
    ) -> Result<(Vec<Event<'static>>, usize)> {
        let (wanted, room) = (more.len(), self.places.len());
        if wanted > room {
            let rule = format!("must be at most the reserved {room} events");
            return Err(Error::invalid(
                "group size",
                format!("{wanted} events"),
                rule,
            ));
        }
        let places = self.places.into_iter().zip(more);
        let events = places.map(|(place, new)| stamped(names, place, new));
        let events = events.collect::<Result<Vec<_>>>()?;
        let bytes = check_sizes(names, &events)?;
        match bytes <= self.bytes {
            true => Ok((events, bytes)),
            false => Err(Error::too_large(
                "the events that room was reserved for",
                bytes as u64,
                self.bytes as u64,
            )),
        }
    }
}

fn stamped(
    names: &RefNames,
    (seq, id, created_at): (u64, EventId, Timestamp),
    new: NewEvent,
) -> Result<Event<'static>> {
    check_strings(names, &new)?;
    let mut refs = new.refs;
    match new.cause {
        Some(Cause::Event(id)) => refs.cause = Some(id),
        None => {}
        Some(Cause::Earlier(_)) => {
            let rule = "must be the id of an event (the job has a second step)";
            return Err(Error::invalid("cause", "an index", rule));
        }
    }
    Ok(Event {
        seq,
        id,
        created_at,
        kind: new.kind,
        actor: Cow::Owned(new.actor),
        refs,
        schema_version: new.schema_version,
        foreign: new.foreign,
        payload: Cow::Owned(new.payload.into_string()),
    })
}
