//! Copies a log group by group: every event keeps its seq, id, time and group, in either format.

use crate::codec::{self, Frame};
use crate::json::Json;
use crate::prelude::*;
use crate::reader::Reader;
use crate::writer::{Durability, Writer};
use std::ops::ControlFlow;

/// Summary of a log's events, to compare two logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Content {
    /// Number of events.
    pub events: u64,
    /// Number of groups.
    pub groups: u64,
    /// BLAKE3 over the public form of every event and its place in its group: equal for two logs with the same events
    /// in the same groups.
    pub digest: [u8; 32],
}

/// Counts and hashes frames.
#[derive(Default)]
struct Summing {
    events: u64,
    groups: u64,
    hasher: blake3::Hasher,
    line: Vec<u8>,
}

impl Summing {
    fn add(&mut self, frame: &Frame<'_>) {
        self.events += 1;
        self.groups += u64::from(frame.group.index == 0);
        self.line.clear();
        codec::public_json(&frame.event, &mut self.line);
        for part in [frame.group.index, frame.group.len] {
            self.line.extend_from_slice(&part.to_le_bytes());
        }
        self.hasher.update(&self.line);
    }

    fn content(&self) -> Content {
        Content {
            events: self.events,
            groups: self.groups,
            digest: *self.hasher.finalize().as_bytes(),
        }
    }
}

impl Reader {
    /// Returns the summary of the events up to `upto`. Reads all of these events.
    pub fn content(&self, upto: u64) -> Result<Content> {
        let mut sum = Summing::default();
        self.each::<(), Error>(None, |located| {
            if located.frame.event.seq > upto {
                return Ok(ControlFlow::Break(()));
            }
            sum.add(&located.frame);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(sum.content())
    }

    /// Returns the size of all segments up to the head in bytes.
    pub fn bytes(&self) -> Result<u64> {
        Ok(self.lens()?.iter().sum())
    }

    /// Returns the length of each segment in bytes.
    pub(crate) fn lens(&self) -> Result<Vec<u64>> {
        let len = |name: String| {
            if name == self.head().name {
                return Ok(self.head().end);
            }
            let path = self.dir().join(EVENTS_DIR).join(name);
            let stat = self.storage().named().stat(&path)?;
            Ok(stat.map_or(0, |stat| stat.len))
        };
        self.segments()?.into_iter().map(len).collect()
    }
}

/// Appends every group of `from` to an empty log, keeping the groups.
pub fn copy_groups(from: &Reader, to: &Writer<()>) -> Result<Content> {
    let (mut sum, mut group) = (Summing::default(), Vec::new());
    from.each::<(), Error>(None, |located| {
        let frame = &located.frame;
        sum.add(frame);
        group.push(to_new_event(frame)?);
        if frame.group.index + 1 == frame.group.len {
            let appended = to.append(std::mem::take(&mut group), Durability::Synced)?;
            assert_eq!(
                appended.map(|group| group.last_seq),
                Some(frame.event.seq),
                "every event must keep its seq"
            );
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(sum.content())
}

/// Converts a recorded event into a new event with the same id and time.
pub(crate) fn to_new_event(frame: &Frame<'_>) -> Result<NewEvent> {
    let event = &frame.event;
    let payload = Json::parse(&event.payload).map_err(|error| {
        Error::invalid(
            "payload",
            format!("that of event {}", event.seq),
            format!("must be JSON ({error})"),
        )
    })?;
    let kind: Cow<'static, str> = Cow::Owned(event.kind.to_string());
    let mut new = NewEvent::new(kind, event.actor.to_string(), payload);
    new.refs = event.refs.clone().into_owned();
    new.schema_version = event.schema_version;
    new.foreign = event.foreign;
    new.created_at = Some(event.created_at);
    new.id = Some(event.id);
    Ok(new)
}
