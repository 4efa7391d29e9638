//! A trace in the Trace Event Format, which trace viewers in browsers load.
//!
//! Each agent is a process. Thread 0 of the process has the events that the agent recorded, as instants. The other threads of the process
//! are lanes. The lanes have the agent's tasks, and the messages that the agent acknowledged, as complete events. Complete events in a lane
//! never overlap, because viewers draw overlapping events of a thread wrongly. The JSON is written while the trace is traversed, so the
//! text is never in memory as a whole.

use super::{Span, SpanKind};
use crate::log::recorded::Recorded;
use crate::redaction::redact;
use crate::story::trace::TraceAnswer;
use serde::ser::Error;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// A page of a trace as one JSON object `{traceEvents, displayTimeUnit, otherData}`.
#[derive(Debug)]
pub struct Chrome<'a> {
    answer: &'a TraceAnswer,
    tracks: Tracks<'a>,
    bars: Vec<Bar<'a>>,
}

impl<'a> Chrome<'a> {
    /// Returns the page, with its lanes assigned.
    pub fn from_answer(answer: &'a TraceAnswer) -> Chrome<'a> {
        let mut tracks = Tracks::default();
        for recorded in &answer.events {
            tracks.process(&recorded.event.actor);
        }
        let times = answer.events.iter();
        let times = times.map(|recorded| (recorded.event.seq, micros(recorded)));
        let times: BTreeMap<u64, i64> = times.collect();
        let at = |seq: u64| times.get(&seq).copied().unwrap_or(0);
        let last = answer.events.last().map_or(0, micros);
        let drawn = answer.spans.iter().filter(|span| is_drawn(span));
        let end = |span: &Span| span.last_seq.map_or(last, at);
        let bars = drawn.map(|span| tracks.bar(span, at(span.first_seq), end(span)));
        let bars = bars.collect();
        Chrome {
            answer,
            tracks,
            bars,
        }
    }
}

/// Returns false for a message without an ack. Such a message has no duration; only its sending is drawn, as an instant.
fn is_drawn(span: &Span) -> bool {
    span.kind == SpanKind::Task || span.last_seq.is_some()
}

fn micros(recorded: &Recorded) -> i64 {
    recorded.event.created_at.micros()
}

/// Agents as processes with their lanes as threads.
#[derive(Debug, Default)]
struct Tracks<'a> {
    /// Agents in the order of their first event. The first agent is process 1.
    agents: Vec<Agent<'a>>,
    processes: BTreeMap<&'a str, usize>,
}

#[derive(Debug)]
struct Agent<'a> {
    name: &'a str,
    /// Number of lanes. `free` has the end of the last span in each lane, the earliest on top.
    lanes: usize,
    free: BinaryHeap<Reverse<(i64, usize)>>,
}

#[derive(Debug)]
struct Bar<'a> {
    span: &'a Span,
    process: usize,
    lane: usize,
    from: i64,
    to: i64,
}

impl<'a> Tracks<'a> {
    fn process(&mut self, name: &'a str) -> usize {
        let agents = &mut self.agents;
        *self.processes.entry(name).or_insert_with(|| {
            agents.push(Agent {
                name,
                lanes: 0,
                free: BinaryHeap::new(),
            });
            agents.len()
        })
    }

    /// Assigns a span to a free lane of its agent, or to a new lane. The spans must come in the order of their start.
    fn bar(&mut self, span: &'a Span, from: i64, to: i64) -> Bar<'a> {
        let process = self.process(&span.agent);
        let mut lane = 0;
        if let Some(agent) = self.agents.get_mut(process - 1) {
            lane = match agent.free.peek() {
                Some(Reverse((until, free))) if *until <= from => *free,
                _ => agent.lanes + 1,
            };
            if lane > agent.lanes {
                agent.lanes = lane;
            } else {
                agent.free.pop();
            }
            agent.free.push(Reverse((to, lane)));
        }
        Bar {
            span,
            process,
            lane,
            from,
            to,
        }
    }
}

#[derive(Serialize)]
struct Entry<'a, A> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cat: Option<&'static str>,
    ph: &'static str,
    ts: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<i64>,
    /// Scope of an instant, which is drawn only on its thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<&'static str>,
    pid: usize,
    tid: usize,
    args: A,
}

#[derive(Serialize)]
struct NameArg<'a> {
    name: &'a str,
}

#[derive(Serialize)]
struct Entries<'a>(#[serde(serialize_with = "entries")] &'a Chrome<'a>);

fn entries<S: Serializer>(chrome: &&Chrome<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    use serde::ser::SerializeSeq;
    let mut list = serializer.serialize_seq(None)?;
    for (at, agent) in chrome.tracks.agents.iter().enumerate() {
        list.serialize_element(&label("process_name", at + 1, 0, agent.name))?;
        for lane in 0..=agent.lanes {
            let name = match lane {
                0 => "events".to_owned(),
                1 => "work".to_owned(),
                _ => format!("work {lane}"),
            };
            list.serialize_element(&label("thread_name", at + 1, lane, &name))?;
        }
    }
    for recorded in &chrome.answer.events {
        let actor: &str = &recorded.event.actor;
        let process = chrome.tracks.processes.get(actor).copied();
        list.serialize_element(&instant(recorded, process.unwrap_or_default()))?;
    }
    for bar in &chrome.bars {
        let name = format!("{} {}", bar.span.kind.name(), bar.span.id);
        list.serialize_element(&complete(bar, &name))?;
    }
    list.end()
}

fn label<'a>(what: &'static str, pid: usize, tid: usize, name: &'a str) -> Entry<'a, NameArg<'a>> {
    Entry {
        name: what,
        cat: None,
        ph: "M",
        ts: 0,
        dur: None,
        s: None,
        pid,
        tid,
        args: NameArg { name },
    }
}

/// An event without claim tokens, because users share trace files.
struct WithoutTokens<'a>(&'a Recorded);

impl Serialize for WithoutTokens<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let WithoutTokens(recorded) = self;
        if redact(&recorded.event.payload, "").is_none() {
            return recorded.serialize(serializer);
        }
        let text = serde_json::to_string(recorded).map_err(S::Error::custom)?;
        let text = redact(&text, "").unwrap_or(text);
        let raw = RawValue::from_string(text).map_err(S::Error::custom)?;
        raw.serialize(serializer)
    }
}

fn instant(recorded: &Recorded, pid: usize) -> Entry<'_, WithoutTokens<'_>> {
    Entry {
        name: &recorded.event.kind,
        cat: Some("event"),
        ph: "i",
        ts: micros(recorded),
        dur: None,
        s: Some("t"),
        pid,
        tid: 0,
        args: WithoutTokens(recorded),
    }
}

fn complete<'a>(bar: &'a Bar<'_>, name: &'a str) -> Entry<'a, &'a Span> {
    Entry {
        name,
        cat: Some(bar.span.kind.name()),
        ph: "X",
        ts: bar.from,
        dur: Some(bar.to - bar.from),
        s: None,
        pid: bar.process,
        tid: bar.lane,
        args: bar.span,
    }
}

impl Serialize for Chrome<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Document<'a> {
            trace_events: Entries<'a>,
            display_time_unit: &'static str,
            other_data: Page<'a>,
        }
        #[derive(Serialize)]
        struct Page<'a> {
            team: &'a str,
            trace_id: &'a str,
            count: usize,
            next_cursor: Option<&'a str>,
        }
        let answer = self.answer;
        Document {
            trace_events: Entries(self),
            display_time_unit: "ms",
            other_data: Page {
                team: &answer.team,
                trace_id: &answer.trace_id,
                count: answer.count,
                next_cursor: answer.next_cursor.as_deref(),
            },
        }
        .serialize(serializer)
    }
}
