//! `append --batch`: many facts, streamed, one atomic group per batch.

use crate::log::append::{Append, inherit_trace};
use crate::log::lines::{Lines, unreadable};
use crate::prelude::*;
use crate::projections::Error;
use serde_json::value::RawValue;
use std::io::{self, BufRead};
use teamlog_engine as engine;
use teamlog_engine::EventId;
use teamlog_engine::limits::{GROUP_BYTES_MAX, GROUP_EVENTS_MAX};

/// How a batch is appended. The lines are JSON objects
/// `{kind, actor?, trace_id?, task_id?, agent?, message_id?, thread_id?, session_id?, key?, cause?, payload?}`.
#[derive(Debug, Clone, Default)]
pub struct AppendBatch {
    /// Events of one atomic group; `None` is 1,000.
    pub batch_size: Option<usize>,
    /// The actor of lines that name none; default `teamlog`.
    pub actor: Option<String>,
}

/// `{count, first_seq, last_seq}`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BatchAnswer {
    /// Events appended.
    pub count: u64,
    /// Seq of the first; `null` if there was none.
    pub first_seq: Option<u64>,
    /// Seq of the last.
    pub last_seq: Option<u64>,
}

impl BatchAnswer {
    /// What a failure adds to its message; nothing where nothing was recorded.
    pub fn told(&self) -> String {
        self.last_seq.map_or_else(String::new, |last| {
            format!("; {} recorded before, up to event {last}", self.count)
        })
    }
}

/// Why a batch was not appended to its end, and what of it is recorded.
#[derive(Debug, thiserror::Error)]
#[error("{failure}{}", recorded.told())]
pub struct Stopped {
    /// What happened.
    pub failure: Failure,
    /// What was recorded before.
    pub recorded: BatchAnswer,
    /// The first line that is not known to be recorded.
    pub next_line: u64,
}

/// Events of one atomic group, unless the caller says otherwise.
pub const BATCH_SIZE: usize = 1_000;
/// More than the framing of one event adds to its line.
const FRAMING_BYTES: usize = 512;

/// One line of the input.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    kind: String,
    actor: Option<String>,
    trace_id: Option<String>,
    task_id: Option<String>,
    agent: Option<String>,
    message_id: Option<String>,
    thread_id: Option<String>,
    session_id: Option<String>,
    key: Option<String>,
    cause: Option<String>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
}

impl Team {
    /// Records many, from JSON lines, in bounded memory. At a bad line everything before its batch is in the log,
    /// and the refusal's details say how much.
    ///
    /// # Errors
    /// `invalid_input`, `reserved_kind`, `too_large` (each with the line); `partly_appended`; the log's, the source's. Each
    /// with what is recorded.
    pub fn append_batch(
        &mut self,
        batch: AppendBatch,
        source: &mut dyn BufRead,
    ) -> Result<BatchAnswer, Box<Stopped>> {
        let mut recorded = BatchAnswer::default();
        let mut next_line = 1;
        match self.append_groups(batch, source, &mut recorded, &mut next_line) {
            Ok(()) => Ok(recorded),
            // Boxed, since it is larger than what is answered by far.
            Err(failure) => Err(Box::new(Stopped {
                failure,
                recorded,
                next_line,
            })),
        }
    }

    fn append_groups(
        &mut self,
        batch: AppendBatch,
        source: &mut dyn BufRead,
        answer: &mut BatchAnswer,
        next_line: &mut u64,
    ) -> Result<()> {
        let size = batch
            .batch_size
            .unwrap_or(BATCH_SIZE)
            .clamp(1, GROUP_EVENTS_MAX);
        let mut lines = Lines::new(source);
        let mut group = Group::default();
        while let Some(line) = lines
            .next()
            .map_err(|failure| read_so_far(failure, answer))?
        {
            let event = read_line(&line.text, batch.actor.as_deref())
                .map_err(|refusal| so_far(refusal.detail("line", line.number).into(), answer))?;
            let bytes = line.text.len() + FRAMING_BYTES;
            if group.events.len() >= size || group.bytes + bytes > GROUP_BYTES_MAX {
                self.append_group(&mut group, answer, next_line)?;
            }
            group.push(event, bytes, line.number);
        }
        self.append_group(&mut group, answer, next_line)
    }

    fn append_group(
        &mut self,
        group: &mut Group,
        answer: &mut BatchAnswer,
        next_line: &mut u64,
    ) -> Result<()> {
        if group.events.is_empty() {
            return Ok(());
        }
        let group = std::mem::take(group);
        let lines = (group.first_line, group.last_line);
        let seqs = self
            .execute_unkeyed(Facts(group.events))
            .map_err(|failure| match failure {
                Failure::Refused(refusal) => so_far(
                    refusal
                        .detail("first_line", lines.0)
                        .detail("last_line", lines.1)
                        .into(),
                    answer,
                ),
                failed => cut_short(failed, lines.0, answer),
            })?;
        answer.count += seqs.len() as u64;
        answer.first_seq = answer.first_seq.or(seqs.first().copied());
        answer.last_seq = seqs.last().copied().or(answer.last_seq);
        *next_line = lines.1 + 1;
        // The tail must not grow with the input.
        self.finish()
            .map_err(|failure| cut_short(failure, lines.1 + 1, answer))
    }
}

/// The lines read since the last group went out.
#[derive(Default)]
struct Group {
    events: Vec<NewEvent>,
    bytes: usize,
    first_line: u64,
    last_line: u64,
}

impl Group {
    fn push(&mut self, event: NewEvent, bytes: usize, line: u64) {
        if self.events.is_empty() {
            self.first_line = line;
        }
        self.last_line = line;
        self.bytes += bytes;
        self.events.push(event);
    }
}

fn read_line(text: &str, actor: Option<&str>) -> Result<NewEvent, Refusal> {
    let line: Line<'_> = serde_json::from_str(text).map_err(|error| {
        Refusal::invalid(
            "line",
            text,
            &format!("must be a JSON object of the known fields ({error})"),
        )
    })?;
    let cause = match &line.cause {
        None => None,
        Some(id) => Some(
            EventId::from_text(id.as_bytes())
                .ok_or_else(|| Refusal::invalid("cause", id, "must be the id of an event"))?,
        ),
    };
    Append {
        kind: line.kind,
        actor: line.actor.or_else(|| actor.map(str::to_owned)),
        trace_id: line.trace_id,
        task_id: line.task_id,
        agent: line.agent,
        message_id: line.message_id,
        thread_id: line.thread_id,
        session_id: line.session_id,
        key: line.key,
        cause,
        payload: line.payload.map(|payload| payload.get().to_owned()),
    }
    .event()
}

/// A refusal tells what is in the log already.
fn so_far(failure: Failure, answer: &BatchAnswer) -> Failure {
    match failure {
        Failure::Refused(refusal) => {
            let line = refusal
                .details
                .get("line")
                .map(|line| format!("line {line}: "));
            let message = format!("{}{}", line.unwrap_or_default(), refusal.message);
            let refusal = Refusal { message, ..refusal };
            refusal
                .detail("appended", answer.count)
                .detail("last_seq", answer.last_seq)
                .into()
        }
        failed => failed,
    }
}

/// A lock that is gone behind the first group is not `locked`: whoever repeated the whole would record that group twice.
fn cut_short(failure: Failure, from: u64, answer: &BatchAnswer) -> Failure {
    let hint = match failure.engine() {
        Some(engine::Error::Locked { .. } | engine::Error::LockLost { written: false, .. }) => {
            format!("append what is from line {from} on; what comes before is recorded")
        }
        Some(engine::Error::LockLost { written: true, .. }) => {
            format!(
                "what comes before line {from} is recorded; look whether that line is, then append the rest"
            )
        }
        _ => return failure,
    };
    if answer.last_seq.is_none() {
        return failure;
    }
    let message = format!("{failure}{}", answer.told());
    let refusal = Refusal::new(Code::PartlyAppended, message).hint(hint);
    so_far(refusal.detail("first_line", from).into(), answer)
}

/// The same of an input that can be read no further.
fn read_so_far(failure: Failure, answer: &BatchAnswer) -> Failure {
    match failure {
        Failure::Failed(Error::Engine(engine::Error::Io { source, .. })) => {
            let recorded = match answer.last_seq {
                // It is said with every failure.
                Some(_) => "",
                None => "; nothing of it was recorded",
            };
            unreadable(io::Error::new(source.kind(), format!("{source}{recorded}")))
        }
        failure => so_far(failure, answer),
    }
}

/// Checked facts that are recorded together or not at all.
#[derive(Debug, Clone)]
struct Facts(Vec<NewEvent>);

impl Command for Facts {
    type Decided = ();
    /// The seqs of the events.
    type Answer = Vec<u64>;

    fn decide(&self, live: &Live, _: Timestamp) -> Result<Decision<()>> {
        let mut events = self.0.clone();
        for event in &mut events {
            inherit_trace(live, event)?;
        }
        Ok(Decision::Granted((), events))
    }

    fn answer(&self, (): &(), after: &After<'_>) -> Result<Vec<u64>> {
        Ok(after.events.iter().map(|event| event.seq).collect())
    }
}
