//! Typical events of teams: about 400 bytes as JSON, refs set, texts varied. Equal numbers give equal events.

use serde::{Deserialize, Serialize};
use teamlog_engine::{Event, EventId, Json, NewEvent, Refs, Timestamp};
use teamlog_team::projections::RefKind;

/// Number of events in a story. A story is the events with one trace id.
pub const STORY: u64 = 20;

/// Content of the payload.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Payload {
    /// A few words and the event's number.
    pub subject: String,
    /// More words.
    pub body: String,
    /// One of four words.
    pub status: String,
    /// A constant text.
    pub priority: String,
    /// A small number.
    pub attempt: u32,
    /// Two words.
    pub labels: Vec<String>,
}

/// An event for `serde_json`: every field owned and typed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Line {
    /// Seq of the event.
    pub seq: u64,
    /// Id of the event.
    pub id: String,
    /// Time of recording.
    pub created_at: String,
    /// Kind of the event.
    pub kind: String,
    /// Actor of the event.
    pub actor: String,
    /// Trace id of the event's story.
    pub trace_id: Option<String>,
    /// Task of the event.
    pub task_id: Option<String>,
    /// Agent of the event.
    pub agent: Option<String>,
    /// Message of the event.
    pub message_id: Option<String>,
    /// Version of the payload's format.
    pub schema_version: u32,
    /// The payload.
    pub payload: Payload,
    /// The checksum that the log stores.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub crc: String,
}

const WORDS: [&str; 24] = [
    "parser", "review", "the", "second", "half", "has", "no", "test", "for", "an", "empty", "line",
    "lock", "merge", "before", "after", "release", "schema", "wait", "cache", "index", "please",
    "look", "again",
];
const KINDS: [&str; 4] = [
    "message_sent",
    "message_acked",
    "task_claimed",
    "task_completed",
];
const STATUSES: [&str; 4] = ["pending", "in_progress", "completed", "blocked"];

/// Returns a number of SplitMix64, so that every run uses the same numbers.
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

fn pick<'a>(from: &[&'a str], number: u64) -> &'a str {
    from[(number % from.len() as u64) as usize]
}

fn words(seed: u64, count: u64) -> String {
    let words: Vec<&str> = (0..count)
        .map(|at| pick(&WORDS, mixed(seed ^ (at << 32))))
        .collect();
    words.join(" ")
}

/// Returns the payload of event `seq`.
pub fn payload(seq: u64) -> Payload {
    let random = mixed(seq);
    Payload {
        subject: format!("{} #{seq}", words(random, 3)),
        body: words(random ^ 1, 3 + random % 10),
        status: pick(&STATUSES, random >> 8).into(),
        priority: "normal".into(),
        attempt: (random >> 16) as u32 % 5,
        labels: vec![words(random ^ 2, 1), words(random ^ 3, 1)],
    }
}

/// Returns the story of event `seq`.
pub fn trace_id(seq: u64) -> String {
    format!("tr_{:05}", seq / STORY)
}

fn refs(seq: u64) -> Refs<'static> {
    let random = mixed(seq ^ 7);
    let mut refs = Refs::default();
    refs.set(RefKind::Trace, trace_id(seq));
    refs.set(RefKind::Task, format!("bd-{}", seq / 5));
    refs.set(RefKind::Agent, format!("agent-{:03}", random % 160));
    refs.set(RefKind::Message, format!("msg_{:012x}", random >> 16));
    refs
}

fn kind(seq: u64) -> &'static str {
    pick(&KINDS, mixed(seq ^ 9))
}

fn actor(seq: u64) -> String {
    format!("agent-{:03}", mixed(seq ^ 11) % 160)
}

/// Returns event `seq` as an event to append.
pub fn new_event(seq: u64) -> NewEvent {
    let mut event = NewEvent::new(
        kind(seq),
        actor(seq),
        Json::from_value(&payload(seq)).unwrap(),
    );
    event.refs = refs(seq);
    event
}

/// Returns event `seq` as recorded.
pub fn event(seq: u64) -> Event<'static> {
    let at = Timestamp::from_micros(1_795_255_200_000_000 + seq as i64 * 37).unwrap();
    Event {
        seq,
        id: EventId::new(at, mixed(seq)),
        created_at: at,
        kind: kind(seq).into(),
        actor: actor(seq).into(),
        refs: refs(seq),
        schema_version: 1,
        foreign: false,
        payload: Json::from_value(&payload(seq))
            .unwrap()
            .into_string()
            .into(),
    }
}

/// Returns event `seq` for `serde_json`.
pub fn line(seq: u64) -> Line {
    let event = event(seq);
    let name = |kind| event.refs.get(kind).map(str::to_owned);
    Line {
        seq,
        id: event.id.to_string(),
        created_at: event.created_at.to_string(),
        kind: event.kind.to_string(),
        actor: event.actor.to_string(),
        trace_id: name(RefKind::Trace),
        task_id: name(RefKind::Task),
        agent: name(RefKind::Agent),
        message_id: name(RefKind::Message),
        schema_version: 1,
        payload: payload(seq),
        crc: String::new(),
    }
}
