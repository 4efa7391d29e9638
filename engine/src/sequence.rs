//! The rule for the order of events in a log: seqs without a gap, increasing ids, whole groups.

use crate::codec::Frame;
use crate::event::Event;
use crate::event_id::EventId;

/// The event before the next bytes to read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LastEvent {
    /// Seq of the event; 0 before the first event of the log.
    pub seq: u64,
    /// Id of the event, if known.
    pub id: Option<EventId>,
}

impl LastEvent {
    /// Returns `event` as the last event.
    pub fn from_event(event: &Event<'_>) -> LastEvent {
        LastEvent {
            seq: event.seq,
            id: Some(event.id),
        }
    }

    /// Returns the event before the event `seq`, with an unknown id.
    pub fn before(seq: u64) -> LastEvent {
        LastEvent {
            seq: seq.saturating_sub(1),
            id: None,
        }
    }

    /// Returns the next seq. The addition must not overflow, because seqs come from disk.
    pub fn next(&self) -> u64 {
        self.seq.saturating_add(1)
    }
}

/// Checks that `frame` may follow the event `last` as part `index` of a group of `len`.
pub fn follows(last: LastEvent, frame: &Frame<'_>, index: u32, len: u32) -> Result<(), String> {
    let event = &frame.event;
    if event.seq != last.next() {
        return Err(format!(
            "found event {} instead of event {}",
            event.seq,
            last.next()
        ));
    }
    if last.id.is_some_and(|id| event.id <= id) {
        return Err("its id is not greater than the one before".into());
    }
    if (frame.group.index, frame.group.len) != (index, len) {
        return Err(format!(
            "its frame says event {} of {} in its group, but it is {} of {len}",
            frame.group.index, frame.group.len, index
        ));
    }
    Ok(())
}
