//! Dead letters: messages whose delivery ran out of attempts.

use super::{DAY, DEAD_LETTER, DEAD_LETTERS, letter_key};
use crate::event::delivery::DeliveryDead;
use crate::prelude::*;

/// A dead letter, without its message.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct DeadLetter {
    /// Event that recorded the dead letter.
    #[rkyv(with = Skip)]
    pub seq: u64,
    /// Id of the event that recorded the dead letter.
    #[rkyv(with = As<[u8; 16]>)]
    pub event: Option<EventId>,
    /// Id of the dead letter.
    pub id: String,
    /// Id of the message.
    pub message_id: String,
    /// Recipient of the message.
    pub to: String,
    /// Task of the message.
    pub task_id: Option<String>,
    /// Trace id of the message.
    pub trace_id: Option<String>,
    /// Reason: `ack_timeout`.
    pub reason: String,
    /// Number of attempts.
    pub attempts: u32,
    /// Time of recording.
    pub created_at: Timestamp,
    /// Event of a late ack, if there is one.
    #[rkyv(with = As<u64>)]
    pub acked: Option<u64>,
    /// Event that requeued the message, if there is one.
    #[rkyv(with = As<u64>)]
    pub requeued: Option<u64>,
}
row!(DeadLetter);

#[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
struct DayRow {
    first: u64,
    last: u64,
}
row!(DayRow);

/// A dead letter in the format of the view file and of answers.
#[derive(Serialize)]
struct DeadLetterView<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    id: &'a str,
    schema_version: u32,
    team: &'a str,
    message_id: &'a str,
    task_id: Option<&'a str>,
    trace_id: Option<&'a str>,
    reason: &'a str,
    attempts: u32,
    created_at: String,
    message: Option<&'a RawValue>,
}

impl DeadLetter {
    /// Returns `{id, schema_version, team, message_id, task_id, trace_id, reason, attempts, created_at, message}` as JSON text.
    /// In a line of a file, `seq` comes first. `message` is the envelope; `null` if the log has no such message.
    pub fn json(&self, team: &str, seq: Option<u64>, message: Option<&RawValue>) -> String {
        let shown = DeadLetterView {
            seq,
            id: &self.id,
            schema_version: 1,
            team,
            message_id: &self.message_id,
            task_id: self.task_id.as_deref(),
            trace_id: self.trace_id.as_deref(),
            reason: &self.reason,
            attempts: self.attempts,
            created_at: self.created_at.to_string(),
            message,
        };
        // Serialising strings, numbers and JSON text cannot fail.
        serde_json::to_string(&shown).unwrap_or_default()
    }
}

/// Folds a new dead letter. Returns `false` if its id is known, because each id counts once.
pub(super) fn keep(tx: &mut Tx<'_>, event: &Event<'_>, dead: &DeliveryDead) -> Result<bool> {
    let key = key_of(DEAD_LETTER, dead.id.as_bytes());
    if tx.has(&key)? {
        return Ok(false);
    }
    let reference = |kind| event.refs.get(kind).map(str::to_owned);
    let to = reference(RefKind::Agent).unwrap_or_default();
    tx.put(&key, &event.seq);
    if !to.is_empty() {
        tx.mark(&numbered(DEAD_LETTERS, &to, event.seq));
    }
    let letter = DeadLetter {
        seq: event.seq,
        event: Some(event.id),
        id: dead.id.clone(),
        message_id: dead.message_id.clone(),
        to,
        task_id: reference(RefKind::Task),
        trace_id: reference(RefKind::Trace),
        reason: dead.reason.clone(),
        attempts: dead.attempts,
        created_at: event.created_at,
        acked: None,
        requeued: None,
    };
    tx.put(&letter_key(event.seq), &letter);
    let key = key_of(DAY, event.created_at.day().as_bytes());
    let day: Option<DayRow> = tx.get(&key)?;
    let first = day.map_or(event.seq, |day| day.first);
    let last = event.seq;
    tx.put(&key, &DayRow { first, last });
    Ok(true)
}

/// Notes a late ack of the message.
pub(super) fn acked(tx: &mut Tx<'_>, id: &str, seq: u64) -> Result<()> {
    mark(tx, id, |letter| {
        letter.acked.get_or_insert(seq);
    })
}

/// Notes that the message was requeued.
pub(super) fn requeued(tx: &mut Tx<'_>, id: &str, seq: u64) -> Result<()> {
    mark(tx, id, |letter| letter.requeued = Some(seq))
}

fn mark(tx: &mut Tx<'_>, id: &str, change: impl Fn(&mut DeadLetter)) -> Result<()> {
    let Some(seq) = tx.get::<u64>(&key_of(DEAD_LETTER, id.as_bytes()))? else {
        return Ok(());
    };
    let key = letter_key(seq);
    if let Some(mut letter) = tx.get::<DeadLetter>(&key)? {
        change(&mut letter);
        tx.put(&key, &letter);
    }
    Ok(())
}

impl TeamState {
    /// Returns the dead letter with this id.
    pub fn dead_letter(&self, id: &str) -> Result<Option<DeadLetter>> {
        let seq: Option<u64> = self.rows().get(&key_of(DEAD_LETTER, id.as_bytes()))?;
        seq.map_or(Ok(None), |seq| self.dead_letter_at(seq))
    }
    /// Returns the dead letter that an event recorded.
    pub fn dead_letter_at(&self, seq: u64) -> Result<Option<DeadLetter>> {
        let letter: Option<DeadLetter> = self.rows().get(&letter_key(seq))?;
        Ok(letter.map(|letter| DeadLetter { seq, ..letter }))
    }
}

/// Returns the days with dead letters, in order.
pub(crate) fn days(rows: Rows<'_>) -> Result<Vec<String>> {
    rows.prefix(&[DAY], false)
        .map(|entry| Ok(entry?.name(1)))
        .collect()
}

/// Returns the dead letters of a day before event `before`, in ascending or descending order.
pub(crate) fn of_day<'a>(
    rows: Rows<'a>,
    day: &str,
    before: u64,
    reverse: bool,
) -> Result<impl Iterator<Item = Result<DeadLetter>> + use<'a>> {
    let day: Option<DayRow> = rows.get(&key_of(DAY, day.as_bytes()))?;
    let (first, end) = day.map_or((0, 0), |day| (day.first, day.last.saturating_add(1)));
    let end = end.min(before).max(first);
    let walk = rows.walk(&letter_key(first), &letter_key(end), reverse);
    Ok(walk.map(|entry| {
        let entry = entry?;
        let seq = entry.seq();
        Ok(DeadLetter {
            seq,
            ..entry.row()?
        })
    }))
}
