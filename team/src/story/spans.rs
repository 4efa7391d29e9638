//! Spans of tasks and messages, computed from the events of a trace.
//!
//! The span of a message lasts from its sending to its ack or dead letter. The span of a task begins with the assignment or claim that gave
//! the task to an agent, and ends with the report that finishes the task. A task that is assigned again has a second span. Late events,
//! repetitions and records of refusals start and end no span.

use crate::log::recorded::Recorded;
use crate::operation::prelude::*;
use crate::projections::Fact;
use crate::projections::event::MessageSent;

words! {
    /// Subject of a span: a task or a message.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum SpanKind {
        /// A task while an agent has it.
        Task = "task",
        /// A message from its sending to its ack.
        Message = "message",
    }
}

words! {
    /// Outcome at the end of a span.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum Outcome {
        /// The span has not ended.
        Open = "open",
        /// The message was acknowledged.
        Acked = "acked",
        /// The message became a dead letter.
        DeadLetter = "dead_letter",
        /// The task was completed.
        Completed = "completed",
        /// The task failed.
        Failed = "failed",
        /// The task was canceled.
        Canceled = "canceled",
        /// The task was released.
        Released = "released",
        /// The lease on the task expired.
        LeaseExpired = "lease_expired",
    }
}

/// A task or a message from start to end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Span {
    /// Subject of the span.
    pub kind: SpanKind,
    /// Id of the task or message.
    pub id: String,
    /// Owner of the task, or recipient of the message.
    pub agent: String,
    /// Outcome of the task or message.
    pub outcome: Outcome,
    /// Time of the span's start.
    pub started_at: Timestamp,
    /// Seq of the event that started the span.
    pub first_seq: u64,
    /// Seq of the event that ended the span, if that event is on the page.
    pub last_seq: Option<u64>,
    /// Duration in microseconds.
    pub duration_us: Option<i64>,
    /// Index of the event that started the span; 0 in an answer that was parsed.
    #[serde(skip)]
    pub first: usize,
    /// Index of the event that ended the span; `None` in an answer that was parsed.
    #[serde(skip)]
    pub last: Option<usize>,
}

impl Outcome {
    /// Returns the outcome of a task with that status.
    fn from_status(status: Status) -> Outcome {
        match status {
            Status::Completed => Outcome::Completed,
            Status::Failed => Outcome::Failed,
            Status::Canceled => Outcome::Canceled,
            _ => Outcome::Open,
        }
    }
}

/// Returns the spans of events in log order, sorted by their start. A task comes before the message that assigned the task.
pub(super) fn of_events(events: &[Recorded]) -> Vec<Span> {
    let mut fold = Fold {
        events,
        spans: Vec::new(),
        tasks: BTreeMap::new(),
        messages: BTreeMap::new(),
    };
    for (at, recorded) in events.iter().enumerate() {
        if !recorded.event.foreign {
            fold.step(at, recorded);
        }
    }
    fold.spans
}

struct Fold<'a> {
    events: &'a [Recorded],
    spans: Vec<Span>,
    /// The open span of each task.
    tasks: BTreeMap<&'a str, usize>,
    messages: BTreeMap<&'a str, usize>,
}

impl<'a> Fold<'a> {
    fn step(&mut self, at: usize, recorded: &'a Recorded) {
        let event = &recorded.event;
        let task = event.refs.get(RefKind::Task);
        match (&*event.kind, task) {
            ("message_sent", _) => self.sent(at, recorded),
            ("delivery_required", _) => self.required_again(event),
            ("message_acked", _) => self.delivered(at, event, Outcome::Acked),
            ("delivery_dead_letter", _) => self.delivered(at, event, Outcome::DeadLetter),
            ("task_claimed" | "task_assigned", Some(task)) => {
                let owner = event.refs.get(RefKind::Agent).unwrap_or(&event.actor);
                self.begin_task(at, task, owner);
            }
            ("task_completed", Some(task)) => self.end_task(at, task, Outcome::Completed),
            ("task_failed", Some(task)) => self.end_task(at, task, Outcome::Failed),
            ("task_canceled", Some(task)) => self.end_task(at, task, Outcome::Canceled),
            ("task_released", Some(task)) => self.end_task(at, task, Outcome::Released),
            ("task_lease_expired", Some(task)) => self.end_task(at, task, Outcome::LeaseExpired),
            _ => {}
        }
    }

    fn sent(&mut self, at: usize, recorded: &'a Recorded) {
        let event = &recorded.event;
        // Never fails: the events were folded before, and folding decodes events.
        let fact = Fact::decode(event);
        let Ok(Some(sent)) = fact.as_ref().map(Fact::sent) else {
            return;
        };
        if let (Some(task), false) = (event.refs.get(RefKind::Task), recorded.marks.superseded) {
            self.task_message(at, task, sent);
        }
        if let Some(id) = event.refs.get(RefKind::Message) {
            let outcome = match recorded.marks.acked {
                true => Outcome::Acked,
                false => Outcome::Open,
            };
            self.messages.insert(id, self.spans.len());
            self.begin(at, SpanKind::Message, id, &sent.to, outcome);
        }
    }

    fn task_message(&mut self, at: usize, task: &'a str, sent: &MessageSent) {
        if sent.kind == MessageType::TaskAssign {
            return self.begin_task(at, task, &sent.to);
        }
        match sent.change.as_ref().and_then(|change| change.status) {
            Some(status) if status.is_final() => {
                self.end_task(at, task, Outcome::from_status(status))
            }
            Some(Status::InProgress | Status::Assigned) => self.begin_task(at, task, &sent.from),
            _ => {}
        }
    }

    fn begin_task(&mut self, at: usize, task: &'a str, owner: &str) {
        if !self.tasks.contains_key(task) {
            self.tasks.insert(task, self.spans.len());
            self.begin(at, SpanKind::Task, task, owner, Outcome::Open);
        }
    }

    fn end_task(&mut self, at: usize, task: &str, outcome: Outcome) {
        if let Some(span) = self.tasks.remove(task) {
            self.end(at, span, outcome);
        }
    }

    /// Returns the span of the message that an event concerns.
    fn message(&self, event: &Event<'_>) -> Option<usize> {
        let message = event.refs.get(RefKind::Message)?;
        self.messages.get(message).copied()
    }

    fn delivered(&mut self, at: usize, event: &Event<'_>, outcome: Outcome) {
        if let Some(span) = self.message(event) {
            self.end(at, span, outcome);
        }
    }

    /// Opens the span of a dead letter again when the dead letter is requeued.
    fn required_again(&mut self, event: &Event<'_>) {
        let span = self.message(event);
        let span = span.and_then(|span| self.spans.get_mut(span));
        if let Some(span) = span.filter(|span| span.outcome == Outcome::DeadLetter) {
            span.outcome = Outcome::Open;
            (span.last_seq, span.last, span.duration_us) = (None, None, None);
        }
    }

    fn begin(&mut self, at: usize, kind: SpanKind, id: &str, agent: &str, outcome: Outcome) {
        let began = self.events.get(at);
        let began = began.map(|recorded| recorded.event.created_at);
        self.spans.push(Span {
            kind,
            id: id.to_owned(),
            agent: agent.to_owned(),
            outcome,
            started_at: began.unwrap_or_default(),
            first_seq: self.seq(at),
            last_seq: None,
            duration_us: None,
            first: at,
            last: None,
        });
    }

    fn end(&mut self, at: usize, span: usize, outcome: Outcome) {
        let seq = self.seq(at);
        let micros = |at: usize| {
            let recorded = self.events.get(at);
            recorded.map_or(0, |recorded| recorded.event.created_at.micros())
        };
        let ended = micros(at);
        if let Some(span) = self.spans.get_mut(span) {
            span.duration_us = Some(ended - micros(span.first));
            span.outcome = outcome;
            span.last_seq = Some(seq);
            span.last = Some(at);
        }
    }

    fn seq(&self, at: usize) -> u64 {
        self.events.get(at).map_or(0, |recorded| recorded.event.seq)
    }
}
