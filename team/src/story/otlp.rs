//! A trace as OTLP/JSON, which trace collectors accept.
//!
//! Each task and each message is a span. All other events are on the span of the page, which has no parent. The parent of a
//! span is the span of its cause. There is one exception: the message that assigned a task is inside the task's span. All ids
//! are derived from the ids of trace and events, so that pages of a trace fit together even if they are exported at different
//! times. The JSON is written while the trace is traversed, so the text is never in memory as a whole.

use super::{Outcome, OutsideCause, Parent, Span, SpanKind, Step, Story};
use crate::operation::prelude::*;
use crate::projections::tag::Content;
use crate::redaction::redact;
use crate::story::trace::TraceAnswer;
use serde::Serializer;
use serde::ser::SerializeSeq;

/// A page of a trace as one `ExportTraceServiceRequest`.
#[derive(Debug)]
pub struct Otlp<'a> {
    answer: &'a TraceAnswer,
    story: Story<'a>,
    /// The spans that belong to each step.
    step_spans: Vec<StepSpans>,
    /// The steps that are on each span.
    span_steps: Vec<Vec<usize>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct StepSpans {
    /// Index of the span that the step is on; `None` means the page's span.
    home: Option<usize>,
    /// Index of the span of the step's task; `None` if no agent has the task.
    task: Option<usize>,
}

impl<'a> Otlp<'a> {
    /// Assigns each event of the page to a span.
    pub fn from_answer(answer: &'a TraceAnswer) -> Otlp<'a> {
        let story = answer.story();
        let step_spans = step_spans(&story);
        let mut span_steps = vec![Vec::new(); story.spans.len()];
        for (step, spans) in step_spans.iter().enumerate() {
            if let Some(steps) = spans.home.and_then(|home| span_steps.get_mut(home)) {
                steps.push(step);
            }
        }
        Otlp {
            answer,
            story,
            step_spans,
            span_steps,
        }
    }

    fn step(&self, at: usize) -> Option<&Step<'a>> {
        self.story.steps.get(at)
    }

    fn event_id(&self, at: usize) -> Option<EventId> {
        self.step(at).map(|step| step.recorded.event.id)
    }

    fn nanos(&self, at: Option<usize>) -> String {
        let step = at.and_then(|at| self.step(at));
        let micros = step.map_or(0, |step| step.recorded.event.created_at.micros());
        (i128::from(micros) * 1000).to_string()
    }

    fn id_of(&self, span: Option<usize>) -> Option<String> {
        match span.map(|span| self.story.spans.get(span)) {
            Some(span) => {
                let span = span?;
                Some(span_id(span.kind.name(), self.event_id(span.first)?))
            }
            None => Some(span_id("page", self.event_id(0)?)),
        }
    }

    fn spans_of(&self, step: usize) -> StepSpans {
        self.step_spans.get(step).copied().unwrap_or_default()
    }

    /// Returns the parent of a span: the span of its cause, else the span of its task, else the page's span.
    fn above(&self, span: &Span) -> Option<String> {
        let task = match span.kind {
            SpanKind::Message => self.spans_of(span.first).task,
            SpanKind::Task => None,
        };
        let begun = task.and_then(|task| self.story.spans.get(task));
        if begun.is_some_and(|task| task.first == span.first) {
            return self.id_of(task);
        }
        match self.step(span.first)?.parent {
            Parent::Cause(cause) => self.id_of(self.spans_of(cause).home),
            Parent::Outside(cause) if self.is_here(cause) => {
                outside_span(cause).or_else(|| self.id_of(task))
            }
            _ => self.id_of(task),
        }
    }

    /// Returns true if an event on another page belongs to the same trace.
    fn is_here(&self, cause: &OutsideCause) -> bool {
        cause.trace_id.as_ref() == Some(&self.answer.trace_id)
    }

    fn page(&self) -> OtlpSpan<'_> {
        let steps = 0..self.step_spans.len();
        let loose = steps.filter(|step| self.spans_of(*step).home.is_none());
        OtlpSpan {
            trace_id: trace_id(&self.answer.trace_id),
            span_id: self.id_of(None).unwrap_or_default(),
            parent_span_id: None,
            name: format!("trace {}", self.answer.trace_id),
            kind: INTERNAL,
            start_time_unix_nano: self.nanos(Some(0)),
            end_time_unix_nano: self.nanos(self.step_spans.len().checked_sub(1)),
            attributes: vec![
                text("teamlog.trace_id", &self.answer.trace_id),
                count("teamlog.events", self.answer.count as u64),
            ],
            events: Events(self, loose.collect()),
            links: Vec::new(),
            status: Status { code: UNSET },
        }
    }

    fn span(&self, at: usize, span: &'a Span) -> OtlpSpan<'_> {
        // A message without an ack has no duration yet. An open task lasts until the end of the page.
        let end = match (span.last, span.kind) {
            (Some(last), _) => last,
            (None, SpanKind::Message) => span.first,
            (None, SpanKind::Task) => self.step_spans.len().saturating_sub(1),
        };
        OtlpSpan {
            trace_id: trace_id(&self.answer.trace_id),
            span_id: self.id_of(Some(at)).unwrap_or_default(),
            parent_span_id: self.above(span),
            name: format!("{} {}", span.kind.name(), span.id),
            kind: INTERNAL,
            start_time_unix_nano: self.nanos(Some(span.first)),
            end_time_unix_nano: self.nanos(Some(end)),
            attributes: vec![
                text("teamlog.kind", span.kind.name()),
                text("teamlog.id", &span.id),
                text("teamlog.agent", &span.agent),
                text("teamlog.outcome", span.outcome.name()),
            ],
            events: Events(self, self.span_steps.get(at).cloned().unwrap_or_default()),
            links: self.link(span).into_iter().collect(),
            status: Status {
                code: match span.outcome {
                    Outcome::Open | Outcome::Canceled | Outcome::Released => UNSET,
                    Outcome::Acked | Outcome::Completed => OK,
                    Outcome::DeadLetter | Outcome::Failed | Outcome::LeaseExpired => ERROR,
                },
            },
        }
    }

    /// Returns a link to a cause in another trace. Such a cause cannot be a parent.
    fn link(&self, span: &Span) -> Option<Link> {
        match self.step(span.first)?.parent {
            Parent::Outside(cause) if !self.is_here(cause) => Some(Link {
                trace_id: trace_id(cause.trace_id.as_ref()?),
                span_id: outside_span(cause)?,
            }),
            _ => None,
        }
    }
}

fn step_spans(story: &Story<'_>) -> Vec<StepSpans> {
    let (mut tasks, mut messages) = (BTreeMap::new(), BTreeMap::new());
    let mut spans = story.spans.iter().enumerate().peekable();
    let mut all = Vec::with_capacity(story.steps.len());
    for (at, step) in story.steps.iter().enumerate() {
        while let Some((number, span)) = spans.next_if(|(_, span)| span.first == at) {
            match span.kind {
                SpanKind::Task => tasks.insert(span.id.as_str(), (number, span.last)),
                SpanKind::Message => messages.insert(span.id.as_str(), (number, None)),
            };
        }
        let refs = &step.recorded.event.refs;
        let task = refs.get(RefKind::Task).and_then(|task| tasks.get(task));
        let task = task.filter(|(_, last)| last.is_none_or(|last| at <= last));
        let task = task.map(|(number, _)| *number);
        let message = refs.get(RefKind::Message).and_then(|id| messages.get(id));
        all.push(StepSpans {
            home: message.map(|(number, _)| *number).or(task),
            task,
        });
    }
    all
}

/// Returns the span of an event on another page, if the span is known. Only the event that sends a message is known to have its own
/// span.
fn outside_span(cause: &OutsideCause) -> Option<String> {
    let id = EventId::from_text(cause.id.as_bytes())?;
    (cause.kind.as_deref() == Some("message_sent")).then(|| span_id(SpanKind::Message.name(), id))
}

/// Returns the trace id of 16 bytes in hex. If the trace's own id has this form, as ids from a `traceparent` do, returns that
/// id; otherwise returns the first bytes of its hash.
fn trace_id(trace: &str) -> String {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if trace.len() == 32 && trace.bytes().all(is_hex) && trace.bytes().any(|byte| byte != b'0') {
        return trace.to_owned();
    }
    derived("trace", trace.as_bytes(), 16)
}

fn span_id(kind: &str, first: EventId) -> String {
    derived(kind, &first.bytes(), 8)
}

/// Returns the first `len` bytes of a BLAKE3 hash in hex. The hash covers `teamlog`, a space, `kind`, a zero byte, and `of`.
fn derived(kind: &str, of: &[u8], len: usize) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(format!("teamlog {kind}\0").as_bytes());
    hasher.update(of);
    let mut hex = hasher.finalize().to_hex().to_string();
    hex.truncate(2 * len);
    hex
}

const INTERNAL: u8 = 1;
const UNSET: u8 = 0;
const OK: u8 = 1;
const ERROR: u8 = 2;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OtlpSpan<'a> {
    trace_id: String,
    span_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_span_id: Option<String>,
    name: String,
    kind: u8,
    start_time_unix_nano: String,
    end_time_unix_nano: String,
    attributes: Vec<Attribute<'a>>,
    events: Events<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    links: Vec<Link>,
    status: Status,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Link {
    trace_id: String,
    span_id: String,
}

#[derive(Serialize)]
struct Status {
    code: u8,
}

#[derive(Serialize)]
struct Attribute<'a> {
    key: &'static str,
    value: Value<'a>,
}

/// A value of an attribute. This JSON format writes 64-bit numbers as strings.
#[derive(Serialize)]
enum Value<'a> {
    #[serde(rename = "stringValue")]
    Text(Cow<'a, str>),
    #[serde(rename = "intValue")]
    Count(String),
    #[serde(rename = "boolValue")]
    Flag(bool),
}

fn text<'a>(key: &'static str, value: impl Into<Cow<'a, str>>) -> Attribute<'a> {
    let value = Value::Text(value.into());
    Attribute { key, value }
}

fn count(key: &'static str, value: u64) -> Attribute<'static> {
    let value = Value::Count(value.to_string());
    Attribute { key, value }
}

struct Events<'a>(&'a Otlp<'a>, Vec<usize>);

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SpanEvent<'a> {
    time_unix_nano: String,
    name: &'a str,
    attributes: Vec<Attribute<'a>>,
}

impl Serialize for Events<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let steps = self.1.iter().filter_map(|at| self.0.step(*at));
        serializer.collect_seq(steps.map(happened))
    }
}

fn happened<'a>(step: &Step<'a>) -> SpanEvent<'a> {
    let event = &step.recorded.event;
    let mut attributes = vec![
        count("teamlog.seq", event.seq),
        text("teamlog.event_id", event.id.to_string()),
        text("teamlog.actor", &*event.actor),
    ];
    for kind in RefKind::ALL {
        let value = event.refs.get(kind);
        attributes.extend(value.map(|value| text(ref_key(kind), value)));
    }
    if let Some(cause) = event.refs.cause {
        attributes.push(text("teamlog.cause", cause.to_string()));
    }
    let marks = step.recorded.marks;
    let marks = [
        ("teamlog.foreign", event.foreign),
        ("teamlog.superseded", marks.superseded),
        ("teamlog.duplicate", marks.duplicate),
        ("teamlog.refused", marks.refused),
        ("teamlog.acked", marks.acked),
    ];
    for (key, _) in marks.into_iter().filter(|(_, set)| *set) {
        let value = Value::Flag(true);
        attributes.push(Attribute { key, value });
    }
    // Removes claim tokens, because many people can read a collector.
    let Content { tags, payload } = Content::from_event(event);
    if !tags.is_empty() {
        attributes.push(text("teamlog.tags", tags.join(",")));
    }
    let payload = match redact(payload, "") {
        Some(redacted) => Cow::Owned(redacted),
        None => Cow::Borrowed(payload),
    };
    attributes.push(text("teamlog.payload", payload));
    SpanEvent {
        time_unix_nano: (i128::from(event.created_at.micros()) * 1000).to_string(),
        name: &event.kind,
        attributes,
    }
}

fn ref_key(kind: RefKind) -> &'static str {
    match kind {
        RefKind::Trace => "teamlog.trace_id",
        RefKind::Task => "teamlog.task_id",
        RefKind::Agent => "teamlog.agent",
        RefKind::Message => "teamlog.message_id",
        RefKind::Thread => "teamlog.thread_id",
        RefKind::Session => "teamlog.session_id",
        RefKind::Key => "teamlog.key",
    }
}

/// The spans of a page. The page's own span comes first.
struct Spans<'a>(&'a Otlp<'a>);

impl Serialize for Spans<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        list.serialize_element(&self.0.page())?;
        for (at, span) in self.0.story.spans.iter().enumerate() {
            list.serialize_element(&self.0.span(at, span))?;
        }
        list.end()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceSpans<'a> {
    resource: Resource<'a>,
    scope_spans: [ScopeSpans<'a>; 1],
}

#[derive(Serialize)]
struct Resource<'a> {
    attributes: Vec<Attribute<'a>>,
}

#[derive(Serialize)]
struct ScopeSpans<'a> {
    scope: Scope,
    spans: Spans<'a>,
}

#[derive(Serialize)]
struct Scope {
    name: &'static str,
    version: &'static str,
}

impl Serialize for Otlp<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Request<'a> {
            resource_spans: Vec<ResourceSpans<'a>>,
        }
        let answer = self.answer;
        let mut attributes = vec![
            text("service.name", "teamlog"),
            text("teamlog.team", &answer.team),
        ];
        if let Some(cursor) = &answer.next_cursor {
            attributes.push(text("teamlog.next_cursor", cursor));
        }
        let spans = ResourceSpans {
            resource: Resource { attributes },
            scope_spans: [ScopeSpans {
                scope: Scope {
                    name: "teamlog",
                    version: env!("CARGO_PKG_VERSION"),
                },
                spans: Spans(self),
            }],
        };
        let is_empty = answer.events.is_empty();
        Request {
            resource_spans: (!is_empty).then_some(spans).into_iter().collect(),
        }
        .serialize(serializer)
    }
}
