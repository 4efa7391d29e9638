//! A story: the events of a trace (or of a task) as a tree by cause, with offsets, gaps and durations.
//!
//! A pure function of the marked events. The parent of an event is its cause; without one, an event about a message has
//! the sending of that message as its parent. A parent always precedes its child, so the tree is built in one pass and
//! no content of a log can make it loop. `chrome` and `otlp` render it for programs; the command line renders it for a
//! terminal.

pub mod chrome;
pub mod otlp;
mod spans;
pub mod trace;

pub use spans::{Outcome, Span, SpanKind};

use crate::log::recorded::Recorded;
use crate::operation::prelude::*;

/// Events in log order, and their relations.
#[derive(Debug)]
pub struct Story<'a> {
    /// One step per event, in the same order.
    pub steps: Vec<Step<'a>>,
    /// Spans of tasks and messages, in the order of their start.
    pub spans: Vec<Span>,
}

/// An event and its place in the story. Times are in microseconds.
#[derive(Debug)]
pub struct Step<'a> {
    /// The event.
    pub recorded: &'a Recorded,
    /// Parent of the event.
    pub parent: Parent<'a>,
    /// Number of steps above it.
    pub depth: usize,
    /// Time since the first step.
    pub offset: i64,
    /// Time since the previous step; 0 for the first.
    pub gap: i64,
}

/// The parent of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parent<'a> {
    /// No parent is known.
    None,
    /// The step at that index, which the event names as its cause.
    Cause(usize),
    /// The step at that index, which sent the message that the event is about.
    Message(usize),
    /// An event outside the story.
    Outside(&'a OutsideCause),
    /// An event outside the story that was not looked up.
    Unknown(EventId),
    /// An event that does not precede this one: the named cause is wrong.
    NotBefore(EventId),
}

/// A cause that an event names and that is not on its page. If the log does not hold it either, only `id` is set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct OutsideCause {
    /// Id of the cause.
    pub id: String,
    /// Seq of the cause; `null` if the log has no such event.
    pub seq: Option<u64>,
    /// Kind of the cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Trace of the cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
}

impl<'a> Story<'a> {
    /// Builds the story of events in log order; `outside` describes causes that are not among them.
    pub fn of(events: &'a [Recorded], outside: &'a [OutsideCause]) -> Story<'a> {
        let mut index = Index {
            outside: outside.iter().map(|cause| (&*cause.id, cause)).collect(),
            ..Index::default()
        };
        let mut steps: Vec<Step<'a>> = Vec::with_capacity(events.len());
        let first = events.first().map_or(0, at);
        let mut before = first;
        for recorded in events {
            let parent = index.parent(&recorded.event);
            let depth = match parent {
                Parent::Cause(above) | Parent::Message(above) => {
                    steps.get(above).map_or(0, |above| above.depth + 1)
                }
                _ => 0,
            };
            index.add(steps.len(), &recorded.event);
            steps.push(Step {
                recorded,
                parent,
                depth,
                offset: at(recorded) - first,
                gap: at(recorded) - before,
            });
            before = at(recorded);
        }
        Story {
            steps,
            spans: spans::of_events(events),
        }
    }

    /// Returns the time from the first event to the last, in microseconds.
    pub fn duration(&self) -> i64 {
        self.steps.last().map_or(0, |last| last.offset)
    }

    /// Returns the spans that start with the step at that index.
    pub fn begun_by(&self, step: usize) -> &[Span] {
        let from = self.spans.partition_point(|span| span.first < step);
        let to = self.spans.partition_point(|span| span.first <= step);
        self.spans.get(from..to).unwrap_or_default()
    }
}

/// Returns the distinct causes that events name and that are not among them, in the order of their ids.
pub(crate) fn causes_outside(events: &[Recorded]) -> Vec<EventId> {
    let events = || events.iter().map(|recorded| &recorded.event);
    let here: BTreeSet<EventId> = events().map(|event| event.id).collect();
    let named: BTreeSet<EventId> = events().filter_map(|event| event.refs.cause).collect();
    named.difference(&here).copied().collect()
}

fn at(recorded: &Recorded) -> i64 {
    recorded.event.created_at.micros()
}

/// The steps before the event at hand.
#[derive(Default)]
struct Index<'a> {
    steps: BTreeMap<EventId, usize>,
    sent: BTreeMap<&'a str, usize>,
    outside: BTreeMap<&'a str, &'a OutsideCause>,
}

impl<'a> Index<'a> {
    fn add(&mut self, step: usize, event: &'a Event<'static>) {
        self.steps.insert(event.id, step);
        if event.kind == "message_sent"
            && !event.foreign
            && let Some(message) = event.refs.get(RefKind::Message)
        {
            self.sent.entry(message).or_insert(step);
        }
    }

    fn parent(&self, event: &Event<'_>) -> Parent<'a> {
        let Some(cause) = event.refs.cause else {
            return self.about(event);
        };
        if cause >= event.id {
            return Parent::NotBefore(cause);
        }
        if let Some(step) = self.steps.get(&cause) {
            return Parent::Cause(*step);
        }
        let outside = self.outside.get(cause.to_string().as_str());
        outside.map_or(Parent::Unknown(cause), |outside| Parent::Outside(outside))
    }

    /// Returns the step that sent the message of an event; only our own facts about messages have one.
    fn about(&self, event: &Event<'_>) -> Parent<'a> {
        if event.foreign || event.kind == "message_sent" {
            return Parent::None;
        }
        let message = event.refs.get(RefKind::Message);
        let step = message.and_then(|message| self.sent.get(message));
        step.map_or(Parent::None, |step| Parent::Message(*step))
    }
}
