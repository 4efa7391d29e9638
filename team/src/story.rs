//! A story: the events of a trace (or of a task) as a tree by cause, with offsets, gaps and durations.
//!
//! A pure function of the marked events. An event hangs below the one that it names as its cause; where it names none
//! and is a fact about a message, below the sending of that message. A parent always stands before its child, so the
//! tree is built in one pass and nothing that a log holds can make it loop. The renderers for machines, `chrome` and
//! `otlp`, stand behind it; how it looks on a terminal is the command line's business.

pub mod chrome;
pub mod otlp;
mod spans;
pub mod trace;

pub use spans::{Outcome, Span, SpanKind};

use crate::log::recorded::Recorded;
use crate::operation::prelude::*;

/// Some events in the order of the log, and what they are to each other.
#[derive(Debug)]
pub struct Story<'a> {
    /// One for each event, in the same order.
    pub steps: Vec<Step<'a>>,
    /// Tasks and messages from begin to end, in the order in which they began.
    pub spans: Vec<Span>,
}

/// An event and its place in the story. Times in microseconds.
#[derive(Debug)]
pub struct Step<'a> {
    /// The event.
    pub recorded: &'a Recorded,
    /// What led to it.
    pub parent: Parent<'a>,
    /// Steps above it.
    pub depth: usize,
    /// Since the first step.
    pub offset: i64,
    /// Since the step before; 0 for the first.
    pub gap: i64,
}

/// What led to an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parent<'a> {
    /// Nothing that is known.
    None,
    /// The step at that index, which the event names as its cause.
    Cause(usize),
    /// The step at that index, which sent the message that the event is about.
    Message(usize),
    /// An event that is not part of the story.
    Outside(&'a OutsideCause),
    /// An event that is not part of the story, and was not looked for.
    Unknown(EventId),
    /// An event that does not precede this one: whoever named it was wrong.
    NotBefore(EventId),
}

/// A cause that an event names and its page does not hold. Where the log does not hold it either, only `id` is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct OutsideCause {
    /// The id that was named.
    pub id: String,
    /// Its place in the log; `null` where the log holds no such event.
    pub seq: Option<u64>,
    /// Its kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The story that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
}

impl<'a> Story<'a> {
    /// The story of events that stand in the order of the log; `outside` says what is known of causes that are not
    /// among them.
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
            spans: spans::of(events),
        }
    }

    /// From the first event to the last, in microseconds.
    pub fn duration(&self) -> i64 {
        self.steps.last().map_or(0, |last| last.offset)
    }

    /// The spans that begin with the step at that index.
    pub fn begun_by(&self, step: usize) -> &[Span] {
        let from = self.spans.partition_point(|span| span.first < step);
        let to = self.spans.partition_point(|span| span.first <= step);
        self.spans.get(from..to).unwrap_or_default()
    }
}

/// The distinct causes that events name and that are not among them, in the order of their ids.
pub(crate) fn causes_outside(events: &[Recorded]) -> Vec<EventId> {
    let events = || events.iter().map(|recorded| &recorded.event);
    let here: BTreeSet<EventId> = events().map(|event| event.id).collect();
    let named: BTreeSet<EventId> = events().filter_map(|event| event.refs.cause).collect();
    named.difference(&here).copied().collect()
}

fn at(recorded: &Recorded) -> i64 {
    recorded.event.created_at.micros()
}

/// What stands before the event at hand.
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

    /// A fact of ours about a message follows from the message.
    fn about(&self, event: &Event<'_>) -> Parent<'a> {
        if event.foreign || event.kind == "message_sent" {
            return Parent::None;
        }
        let message = event.refs.get(RefKind::Message);
        let step = message.and_then(|message| self.sent.get(message));
        step.map_or(Parent::None, |step| Parent::Message(*step))
    }
}
