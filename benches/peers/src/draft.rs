//! Equal events for all contestants, each in the contestant's own form: encoded bytes for stores of bytes, and fields for
//! teamlog, which encodes within the measured time.

use teamlog_benches::events::{self, STORY};
use teamlog_engine::internals::codec::encode_group;
use teamlog_engine::{Format, NewEvent};
use teamlog_projections::RefKind;
use teamlog_team::log::append::Append;

const KIND: &str = "step_taken";

/// An event to append.
pub enum Draft {
    /// An event for a store of bytes.
    Record(Record),
    /// An event for the engine.
    Event(NewEvent),
    /// An event for a team.
    Input(Append),
}

/// An event for a store of bytes.
pub struct Record {
    pub seq: u64,
    /// Key of the event in the index.
    pub trace: String,
    /// The line that teamlog would write for the event.
    pub line: Vec<u8>,
}

impl Draft {
    pub fn record(self) -> Record {
        match self {
            Draft::Record(record) => record,
            _ => unreachable!("a store of bytes is given bytes"),
        }
    }

    pub fn event(self) -> NewEvent {
        match self {
            Draft::Event(event) => event,
            _ => unreachable!("an engine is given an event"),
        }
    }

    pub fn input(self) -> Append {
        match self {
            Draft::Input(input) => input,
            _ => unreachable!("a team is given an input"),
        }
    }
}

/// Number of events in a block. All stories of a block have the same order.
const BLOCK: u64 = 1_000;
const STORIES: u64 = BLOCK / STORY;

/// Order of a story's events in a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lie {
    /// The events of a story follow directly after each other.
    Adjacent,
    /// The events of a story are 50 events apart, among the events of other stories.
    Spread,
}

/// Returns the story of event `seq`. In every second block, the events of different stories are mixed.
pub fn story(seq: u64) -> String {
    let (block, within) = (seq / BLOCK, seq % BLOCK);
    let story = match block % 2 {
        0 => within / STORY,
        _ => within % STORIES,
    };
    format!("tr_{:05}", block * STORIES + story)
}

/// Returns a story of a history with the given order. Different numbers give different stories.
pub fn some_story(number: u64, count: u64, lie: Lie) -> String {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    let (block, story) = (mixed % (count / BLOCK / 2), mixed % STORIES);
    match lie {
        Lie::Adjacent => self::story(block * 2 * BLOCK + story * STORY),
        Lie::Spread => self::story((block * 2 + 1) * BLOCK + story),
    }
}

/// Returns event `seq` as bytes.
pub fn record(seq: u64) -> Record {
    let mut event = events::event(seq);
    event.kind = KIND.into();
    event.foreign = true;
    event.refs.set(RefKind::Trace, story(seq));
    let mut line = Vec::with_capacity(512);
    encode_group(Format::Jsonl, &[event], &mut line);
    Record {
        seq,
        trace: story(seq),
        line,
    }
}

/// Returns event `seq` for the engine. No fold reads events of that kind.
pub fn event(seq: u64) -> NewEvent {
    let mut event = events::new_event(seq);
    event.kind = KIND.into();
    event.foreign = true;
    event.refs.set(RefKind::Trace, story(seq));
    event
}

/// Returns event `seq` for a team.
pub fn input(seq: u64) -> Append {
    let event = event(seq);
    let name = |kind| event.refs.get(kind).map(str::to_owned);
    Append {
        kind: KIND.into(),
        trace_id: name(RefKind::Trace),
        task_id: name(RefKind::Task),
        agent: name(RefKind::Agent),
        message_id: name(RefKind::Message),
        actor: Some(event.actor),
        payload: Some(event.payload.into_string()),
        ..Append::default()
    }
}
