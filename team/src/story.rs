//! A story: the events of a trace or of a task as a tree by cause, with offsets, gaps and durations.
//!
//! The story is a pure function of the events. The parent of an event is its cause. If an event about a message has no
//! cause, its parent is the event that sent the message. A parent always precedes its child, so one pass builds the tree,
//! and no content of a log can cause a loop. `chrome` and `otlp` render the story for programs; the command line renders it
//! for a terminal.

pub mod chrome;
pub mod otlp;
pub mod sentence;
mod spans;
pub mod trace;

pub use spans::{Outcome, Span, SpanKind};

use crate::log::recorded::Recorded;
use crate::operation::prelude::*;

/// Events in log order, and their relations.
#[derive(Debug)]
pub struct Story<'a> {
    /// The steps, one per event, in the order of the events.
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
    /// Number of ancestors of the step.
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
    /// The event names the step at this index as its cause.
    Cause(usize),
    /// The event is about the message that the step at this index sent.
    Message(usize),
    /// An event outside the story.
    Outside(&'a OutsideCause),
    /// An event outside the story that was not looked up.
    Unknown(EventId),
    /// The event names a cause that does not precede it, so the cause is wrong.
    NotBefore(EventId),
}

/// A cause that an event names, but that is not on the event's page. If the log lacks the cause too, only `id` is set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct OutsideCause {
    /// Id of the cause.
    pub id: String,
    /// Seq of the cause; `null` if the log does not contain the cause.
    pub seq: Option<u64>,
    /// Kind of the cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Trace of the cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
}

impl<'a> Story<'a> {
    /// Builds the story of events in log order. `outside` describes causes that are not among the events.
    pub fn new(events: &'a [Recorded], outside: &'a [OutsideCause]) -> Story<'a> {
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

/// Returns the causes that events name but that are not among the events, without duplicates, in the order of their ids.
pub(crate) fn causes_outside(events: &[Recorded]) -> Vec<EventId> {
    let events = || events.iter().map(|recorded| &recorded.event);
    let here: BTreeSet<EventId> = events().map(|event| event.id).collect();
    let named: BTreeSet<EventId> = events().filter_map(|event| event.refs.cause).collect();
    named.difference(&here).copied().collect()
}

fn at(recorded: &Recorded) -> i64 {
    recorded.event.created_at.micros()
}

/// The steps before the current event.
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

    /// Returns the step that sent the message of an event. Returns no parent for a foreign event and for the event that sends the message.
    fn about(&self, event: &Event<'_>) -> Parent<'a> {
        if event.foreign || event.kind == "message_sent" {
            return Parent::None;
        }
        let message = event.refs.get(RefKind::Message);
        let step = message.and_then(|message| self.sent.get(message));
        step.map_or(Parent::None, |step| Parent::Message(*step))
    }
}
