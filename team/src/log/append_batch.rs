//! `append --batch`: records a stream of facts, one atomic group per batch.

use crate::command::Control;
use crate::log::append::Append;
use crate::log::condition::Conditions;
use crate::log::facts::{ANSWER_BYTES, BatchKey, Fact, FactAnswer, Facts};
use crate::log::filter::EventFilter;
use crate::log::lines::{Line, Lines, unreadable};
use crate::operation::prelude::*;
use std::io::{self, BufRead};
use teamlog_engine as engine;
use teamlog_engine::limits::{EVENT_BYTES_MAX, GROUP_BYTES_MAX, GROUP_EVENTS_MAX};

/// Options of a batch. The lines of the input are JSON objects `{kind, actor?, trace_id?, task_id?, agent?,
/// message_id?, thread_id?, session_id?, key?, tags?, cause?, payload?}`.
#[derive(Debug, Clone, Default)]
pub struct AppendBatch {
    /// Number of events per atomic group; `None` means 1,000, or with conditions the most that a group can have.
    pub batch_size: Option<usize>,
    /// Actor for lines without an actor; `teamlog` if absent.
    pub actor: Option<String>,
    /// Conditions of the whole input, which then must fit into one group.
    pub conditions: Conditions,
}

/// The answer `{count, first_seq, last_seq, replayed_lines?}`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BatchAnswer {
    /// Number of lines whose events are recorded.
    pub count: u64,
    /// Seq of the first event; `null` if no event is recorded.
    pub first_seq: Option<u64>,
    /// Seq of the last event.
    pub last_seq: Option<u64>,
    /// Number of lines whose event was recorded earlier under the line's key. Left out if no line is repeated.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub replayed_lines: u64,
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature is serde's"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl BatchAnswer {
    /// Adds the result of one line to the answer.
    pub(crate) fn add(&mut self, appended: &FactAnswer) {
        let seq = appended.answer.seq;
        self.count = self.count.saturating_add(1);
        self.first_seq = Some(self.first_seq.map_or(seq, |first| first.min(seq)));
        self.last_seq = self.last_seq.max(Some(seq));
        let replayed = u64::from(appended.replayed);
        self.replayed_lines = self.replayed_lines.saturating_add(replayed);
    }

    /// Returns true if the fields fit together as an answer for the earlier lines of an input.
    fn is_consistent(&self) -> bool {
        let seqs = match (self.count, self.first_seq, self.last_seq) {
            (0, None, None) => true,
            (1.., Some(first), Some(last)) => (1..=last).contains(&first),
            _ => false,
        };
        seqs && self.replayed_lines <= self.count && self.count < u64::from(u32::MAX)
    }

    /// Returns true if all lines were recorded earlier.
    pub fn is_replayed(&self) -> bool {
        self.count > 0 && self.replayed_lines == self.count
    }

    /// Returns the part of an error message that names the recorded events. The text is empty if no
    /// event is recorded.
    pub fn told(&self) -> String {
        self.last_seq.map_or_else(String::new, |last| {
            format!("; {} recorded before, up to event {last}", self.count)
        })
    }
}

/// The failure of a batch, with the answer for the lines that are recorded.
#[derive(Debug, thiserror::Error)]
#[error("{failure}{}", recorded.told())]
pub struct BatchFailure {
    /// The failure.
    pub failure: Failure,
    /// Answer for the lines that were recorded before the failure.
    pub recorded: BatchAnswer,
    /// Number of the first line after the lines that are known to be recorded.
    pub next_line: u64,
}

/// Default number of events per atomic group.
pub const BATCH_SIZE: usize = 1_000;
/// Maximum number of bytes that framing adds to an event's line.
const FRAMING_BYTES: usize = 512;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields<'a> {
    kind: String,
    actor: Option<String>,
    trace_id: Option<String>,
    task_id: Option<String>,
    agent: Option<String>,
    message_id: Option<String>,
    thread_id: Option<String>,
    session_id: Option<String>,
    key: Option<String>,
    tags: Option<Vec<String>>,
    cause: Option<String>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
}

impl AppendBatch {
    /// Splits an input into groups.
    pub fn groups(self, source: &mut dyn BufRead) -> Groups<'_> {
        Groups {
            batch: self,
            lines: Lines::new(source),
            begun: AppendFacts::default(),
            recorded: BatchAnswer::default(),
            next_line: 1,
        }
    }
}

operation! {
    /// Record several facts of your own kinds, all of them or none
    "append-batch": Records(AppendFacts) -> BatchAnswer = Team::append_group,
    refuses = [ReservedKind, PartlyAppended, AppendConflict, CursorAhead]
}

/// Input of `append-batch`: facts that are recorded all together or not at all.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AppendFacts {
    /// The facts, each with the fields of `append` except its conditions
    #[serde(with = "texts")]
    #[schemars(with = "Vec<Map<String, Value>>")]
    facts: Vec<String>,
    /// Line number of each fact in its file, for error messages; the position in the list, from 1, if absent
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<u64>>")]
    lines: Vec<u64>,
    /// Actor of facts without an actor; the caller if absent
    #[serde(default, skip_serializing_if = "Option::is_none")]
    actor: Option<String>,
    /// Answer for the earlier lines of the file; the new answer includes their counts
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<BatchAnswer>,
    /// Condition: record nothing if the log has an event after this seq
    #[serde(default, skip_serializing_if = "Option::is_none")]
    if_seq: Option<u64>,
    /// Condition: record nothing if an event matches one of these filters; at most 16
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<EventFilter>>")]
    if_none: Vec<EventFilter>,
    /// Only events after this seq count for `if_none`; all events if absent
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<u64>,
    /// The facts as parsed events, if this process read them from a file.
    #[serde(skip)]
    read: Vec<Fact>,
    #[serde(skip)]
    bytes: usize,
    /// Number of lines with an idempotency key.
    #[serde(skip)]
    keys: usize,
}

/// The groups of an input. The groups are read one at a time.
pub struct Groups<'a> {
    batch: AppendBatch,
    lines: Lines<&'a mut dyn BufRead>,
    /// Lines of the group that is being read.
    begun: AppendFacts,
    /// Answer for the groups that are recorded so far.
    recorded: BatchAnswer,
    /// Number of the first line after the lines that are known to be recorded.
    next_line: u64,
}

impl Groups<'_> {
    /// Reads the next group.
    ///
    /// # Errors
    /// `invalid_input`, `reserved_kind`, `too_large`, each with the line and the answer for the recorded lines; errors of the
    /// source.
    pub fn read_next(&mut self) -> Result<Option<AppendFacts>> {
        let has_conditions = !self.batch.conditions.is_empty();
        let most = if has_conditions {
            GROUP_EVENTS_MAX
        } else {
            BATCH_SIZE
        };
        let size = self.batch.batch_size.unwrap_or(most);
        let size = size.clamp(1, GROUP_EVENTS_MAX);
        let recorded = self.recorded;
        let failed = |failure| read_so_far(failure, &recorded);
        while let Some(line) = self.lines.next().map_err(failed)? {
            let event = read_line(&line.text, self.batch.actor.as_deref());
            let event = event
                .map_err(|refusal| so_far(refusal.detail("line", line.number).into(), &recorded))?;
            let fact = Fact::new(event, Some(line.number));
            let has_room = self.begun.has_room(&fact, &line.text);
            let full = self.begun.read.len() >= size || !has_room;
            if full && has_conditions {
                return Err(two_groups(line.number, has_room && size < GROUP_EVENTS_MAX).into());
            }
            let done = full.then(|| self.take());
            self.begun.push(fact, line);
            if done.is_some() {
                return Ok(done);
            }
        }
        Ok((!self.begun.read.is_empty()).then(|| self.take()))
    }

    fn take(&mut self) -> AppendFacts {
        let Conditions {
            if_seq,
            if_none,
            after,
        } = self.batch.conditions.clone();
        AppendFacts {
            if_seq,
            if_none,
            after,
            actor: self.batch.actor.clone(),
            before: Some(self.recorded).filter(|recorded| recorded.count > 0),
            ..std::mem::take(&mut self.begun)
        }
    }

    /// Notes that the group that was read last is recorded.
    pub fn advance(&mut self, last_line: u64, recorded: BatchAnswer) {
        self.recorded = recorded;
        self.next_line = last_line + 1;
    }

    fn stopped(&self, failure: Failure) -> Box<BatchFailure> {
        // Boxed, because the failure is much larger than the answer.
        Box::new(BatchFailure {
            failure,
            recorded: self.recorded,
            next_line: self.next_line,
        })
    }

    /// Returns the answer for the recorded groups, and the number of the first line after the lines that are known to be recorded.
    pub fn so_far(&self) -> (BatchAnswer, u64) {
        (self.recorded, self.next_line)
    }
}

/// Serializes facts as their original texts.
mod texts {
    use serde::Deserialize;
    use serde::de::Deserializer;
    use serde::ser::{Error, SerializeSeq, Serializer};
    use serde_json::value::RawValue;

    pub fn serialize<S: Serializer>(texts: &[String], serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(texts.len()))?;
        for text in texts {
            let fact: &RawValue = serde_json::from_str(text).map_err(S::Error::custom)?;
            list.serialize_element(fact)?;
        }
        list.end()
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<String>, D::Error> {
        let facts = Vec::<Box<RawValue>>::deserialize(deserializer)?;
        Ok(facts.iter().map(|fact| fact.get().to_owned()).collect())
    }
}

impl AppendFacts {
    /// Creates a group of facts, each as JSON text with the fields of `append`.
    pub fn new(facts: Vec<String>, actor: Option<String>, conditions: Conditions) -> AppendFacts {
        AppendFacts {
            facts,
            actor,
            if_seq: conditions.if_seq,
            if_none: conditions.if_none,
            after: conditions.after,
            ..AppendFacts::default()
        }
    }

    /// Returns true if the group has room for one more line and for the stored answers of lines with keys.
    fn has_room(&self, fact: &Fact, text: &str) -> bool {
        let keys = self.keys + usize::from(fact.key().is_some());
        let bytes = self.bytes + text.len() + FRAMING_BYTES;
        let most = match keys {
            0 => GROUP_BYTES_MAX,
            _ => GROUP_BYTES_MAX - EVENT_BYTES_MAX,
        };
        bytes + keys * ANSWER_BYTES <= most && self.read.len() + 1 + keys <= GROUP_EVENTS_MAX
    }

    fn push(&mut self, fact: Fact, line: Line) {
        self.bytes += line.text.len() + FRAMING_BYTES;
        self.keys += usize::from(fact.key().is_some());
        self.read.push(fact);
        self.facts.push(line.text);
        self.lines.push(line.number);
    }

    /// Returns true if every line has a key. Such a group can be appended again without harm.
    pub fn is_keyed(&self) -> bool {
        self.keys == self.read.len()
    }

    /// Returns the number of the last line.
    pub fn last_line(&self) -> u64 {
        match self.facts.len() {
            0 => 0,
            count => self.line(count - 1),
        }
    }

    /// Returns the line number of the fact at an index.
    fn line(&self, place: usize) -> u64 {
        let counted = u64::try_from(place).unwrap_or(u64::MAX).saturating_add(1);
        self.lines.get(place).copied().unwrap_or(counted)
    }

    /// Checks the line numbers of the input and its answer for earlier lines.
    fn check(&self) -> Result<(), Refusal> {
        let invalid = |field: &'static str, rule: &str| {
            Err(Refusal::new(Code::InvalidInput, format!("{field} {rule}")).field(field))
        };
        let rising = self.lines.is_sorted_by(|a, b| a < b);
        let counted = self.lines.is_empty() || self.lines.len() == self.facts.len();
        let end = self.lines.last().copied().unwrap_or_default();
        if !rising || !counted || end >= u64::from(u32::MAX) {
            return invalid("lines", "must be one ascending number per fact");
        }
        match self.before.is_none_or(|before| before.is_consistent()) {
            true => Ok(()),
            false => invalid("before", "must be the answer for the lines before"),
        }
    }

    fn take_conditions(&mut self) -> Conditions {
        Conditions {
            if_seq: self.if_seq.take(),
            if_none: std::mem::take(&mut self.if_none),
            after: self.after.take(),
        }
    }

    /// Takes the facts out of the input and checks each of them.
    fn take_facts(&mut self, control: &Control) -> Result<Vec<Fact>, Refusal> {
        if !self.read.is_empty() {
            return Ok(std::mem::take(&mut self.read));
        }
        let doer = control.actor.as_deref().or(control.user.as_deref());
        let actor = self.actor.as_deref().or(doer);
        let read = self.facts.iter().enumerate().map(|(place, text)| {
            let line = self.line(place);
            let event = read_line(text, actor).map_err(|refusal| refusal.detail("line", line))?;
            Ok(Fact::new(event, Some(line)))
        });
        read.collect()
    }
}

impl Team {
    /// Records the facts of JSON lines, in bounded memory. If a line is wrong, all batches before the batch with that line are recorded,
    /// and the details of the refusal contain the number of recorded events.
    pub fn append_batch(
        &mut self,
        batch: AppendBatch,
        source: &mut dyn BufRead,
    ) -> Result<BatchAnswer, Box<BatchFailure>> {
        let mut groups = batch.groups(source);
        loop {
            let group = groups.read_next();
            let Some(group) = group.map_err(|failure| groups.stopped(failure))? else {
                return Ok(groups.recorded);
            };
            let last_line = group.last_line();
            let recorded = self.append_group(group);
            let recorded = recorded.map_err(|failure| groups.stopped(failure))?;
            groups.advance(last_line, recorded);
        }
    }

    /// Records a group. The answer covers all recorded lines, including the lines in `before`.
    ///
    /// # Errors
    /// `invalid_input`, `reserved_kind`, `append_conflict`, `cursor_ahead`, `too_large`, `team_closed`, each with the lines;
    /// `partly_appended`; errors of the log.
    pub fn append_group(&mut self, mut group: AppendFacts) -> Result<BatchAnswer> {
        self.repeated = false;
        group.check()?;
        let conditions = group.take_conditions();
        conditions.check()?;
        let mut answer = group.before.unwrap_or_default();
        let (first, last) = (group.line(0), group.last_line());
        let facts = group.take_facts(&self.control);
        let facts = facts.map_err(|refusal| so_far(refusal.into(), &answer))?;
        let batch = self.control.key.clone().map(|key| BatchKey {
            key,
            request: self.control.request.clone(),
            before: answer,
        });
        let facts = Facts::new(facts).under(batch).with_conditions(conditions);
        let appended = self.append_facts(facts);
        let appended = appended.map_err(|failure| match failure {
            Failure::Refused(refusal) => {
                let refusal = refusal.detail("first_line", first);
                so_far(refusal.detail("last_line", last).into(), &answer)
            }
            failed => cut_short(failed, first, &answer),
        })?;
        if let Some(known) = appended.first {
            self.repeated = true;
            return Ok(known);
        }
        appended.each.iter().for_each(|line| answer.add(line));
        // Flushes after each group. Otherwise the part of the state that is not in a run yet would grow with the input.
        let finished = self.finish();
        finished.map_err(|failure| cut_short(failure, last.saturating_add(1), &answer))?;
        Ok(answer)
    }
}

fn read_line(text: &str, actor: Option<&str>) -> Result<NewEvent, Refusal> {
    let line: Fields<'_> = serde_json::from_str(text).map_err(|error| {
        let rule = format!("must be a JSON object of the known fields ({error})");
        Refusal::invalid("line", text, &rule)
    })?;
    let parse = |id: &String| {
        let known = EventId::from_text(id.as_bytes());
        known.ok_or_else(|| Refusal::invalid("cause", id, "must be the id of an event"))
    };
    let cause = line.cause.as_ref().map(parse).transpose()?;
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
        tags: line.tags,
        cause,
        payload: line.payload.map(|payload| payload.get().to_owned()),
        ..Append::default()
    }
    .event()
}

/// Returns the refusal of a batch with conditions that needs a second group, which begins at a line. `is_size_given` is true if the
/// caller's batch size ended the first group.
fn two_groups(line: u64, is_size_given: bool) -> Refusal {
    let message = format!(
        "a batch with conditions must fit into one atomic group, but line {line} begins another group; nothing was recorded"
    );
    let refusal = Refusal::new(Code::TooLarge, message).field("batch");
    let refusal = refusal.detail("line", line);
    match is_size_given {
        true => refusal.hint("make the groups larger with --batch-size"),
        false => refusal.hint(format!(
            "make the batch smaller: a group has at most {GROUP_EVENTS_MAX} events with their stored answers, and {GROUP_BYTES_MAX} bytes, counted with {FRAMING_BYTES} bytes more per line"
        )),
    }
}

/// Adds the line number to the message of a refusal, and the answer for the recorded lines to its details.
fn so_far(failure: Failure, answer: &BatchAnswer) -> Failure {
    let mut refusal = match failure {
        Failure::Refused(refusal) => refusal,
        failed => return failed,
    };
    if let Some(line) = refusal.details.get("line") {
        refusal.message = format!("line {line}: {}{}", refusal.message, answer.told());
    }
    let refusal = refusal.detail("appended", answer.count);
    match refusal.code {
        // The detail `last_seq` of this refusal is the last event of the log.
        Code::AppendConflict => refusal.into(),
        _ => refusal.detail("last_seq", answer.last_seq).into(),
    }
}

/// Turns `locked` into `partly_appended` if the lock is lost after the first group. A caller that repeats the whole input
/// after `locked` would record the first group twice.
fn cut_short(failure: Failure, from: u64, answer: &BatchAnswer) -> Failure {
    let hint = match failure.engine() {
        Some(engine::Error::Locked { .. } | engine::Error::LockLost { written: false, .. }) => {
            format!("the lines before line {from} are recorded: append the rest, from line {from}")
        }
        Some(engine::Error::LockLost { written: true, .. }) => format!(
            "the lines before line {from} are recorded: check whether line {from} is recorded too, then append the rest"
        ),
        _ => return failure,
    };
    if answer.last_seq.is_none() {
        return failure;
    }
    let message = format!("{failure}{}", answer.told());
    let refusal = Refusal::new(Code::PartlyAppended, message).hint(hint);
    so_far(refusal.detail("first_line", from).into(), answer)
}

/// Adds the answer for the recorded lines to the failure of an unreadable input.
fn read_so_far(failure: Failure, answer: &BatchAnswer) -> Failure {
    let Some(engine::Error::Io { source, .. }) = failure.engine() else {
        return so_far(failure, answer);
    };
    let recorded = match answer.last_seq {
        // The earlier failure already names the recorded lines.
        Some(_) => "",
        None => "; no line was recorded",
    };
    unreadable(io::Error::new(source.kind(), format!("{source}{recorded}")))
}
