//! Tasks and messages from begin to end, as the events of a story show them.
//!
//! A message lasts from its sending to its ack, or to the dead letter that it became. A task lasts from the assignment
//! or claim by which somebody got it to the report that nothing is left to do; given out again after that, it has
//! another span. What came too late, was repeated or refused begins and ends nothing.

use crate::log::recorded::Recorded;
use crate::operation::prelude::*;
use crate::projections::Fact;
use crate::projections::event::Sent;

words! {
    /// What a span is about.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum SpanKind {
        /// A task in somebody's hands.
        Task = "task",
        /// A message on its way to being acknowledged.
        Message = "message",
    }
}

words! {
    /// How a span ended.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum Outcome {
        /// Not yet.
        Open = "open",
        /// The message was acknowledged.
        Acked = "acked",
        /// The message became a dead letter.
        DeadLetter = "dead_letter",
        /// The task is done.
        Completed = "completed",
        /// The task was given up with an error.
        Failed = "failed",
        /// The task is not to be done.
        Canceled = "canceled",
        /// The task was given back.
        Released = "released",
        /// The task was in somebody's hands for too long.
        LeaseExpired = "lease_expired",
    }
}

/// A task or a message from begin to end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Span {
    /// What it is about.
    pub kind: SpanKind,
    /// The task's or the message's id.
    pub id: String,
    /// Whose turn it is: the owner of the task, the recipient of the message.
    pub agent: String,
    /// How it ended.
    pub outcome: Outcome,
    /// When it began.
    pub started_at: Timestamp,
    /// Seq of the event that began it.
    pub first_seq: u64,
    /// Seq of the event that ended it, where that is on the page.
    pub last_seq: Option<u64>,
    /// From one to the other, in microseconds.
    pub duration_us: Option<i64>,
    /// Index of the event that began it; 0 in an answer that was read back.
    #[serde(skip)]
    pub first: usize,
    /// Index of the event that ended it; `None` in an answer that was read back.
    #[serde(skip)]
    pub last: Option<usize>,
}

impl Outcome {
    /// That of a task in that state.
    fn of(status: Status) -> Outcome {
        match status {
            Status::Completed => Outcome::Completed,
            Status::Failed => Outcome::Failed,
            Status::Canceled => Outcome::Canceled,
            _ => Outcome::Open,
        }
    }
}

/// The spans of events that stand in the order of the log, in the order in which they began; of a task and the message
/// by which it was given the task comes first.
pub(super) fn of(events: &[Recorded]) -> Vec<Span> {
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
        // Whoever asked for the story got it from a log whose state is folded: what cannot be read was an error there.
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

    fn task_message(&mut self, at: usize, task: &'a str, sent: &Sent) {
        if sent.kind == MessageType::TaskAssign {
            return self.begin_task(at, task, &sent.to);
        }
        match sent.change.as_ref().and_then(|change| change.status) {
            Some(status) if status.is_final() => self.end_task(at, task, Outcome::of(status)),
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

    /// The span of the message that an event is about.
    fn message(&self, event: &Event<'_>) -> Option<usize> {
        let message = event.refs.get(RefKind::Message)?;
        self.messages.get(message).copied()
    }

    fn delivered(&mut self, at: usize, event: &Event<'_>, outcome: Outcome) {
        if let Some(span) = self.message(event) {
            self.end(at, span, outcome);
        }
    }

    /// A dead letter that is given another chance is on its way again.
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
