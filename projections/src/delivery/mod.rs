//! Deliveries: which messages wait for an ack, when which of them is due, and the dead letters.
//!
//! The schedule follows from the log alone. Each attempt has a full timeout from the moment by which it was decided, and its
//! event says when it ends: the event's own time may lie ahead of that, since the log's times never go back. Hence time in
//! which no tick runs shortens no attempt.
//! What is due by a time `now` is found by an index in order of time, so asking costs what is due and not what waits.

use crate::event::delivery::{DeliveryAttempt, DeliveryDead, DeliveryFact, DeliveryRequired};
use crate::event::message::MessageFact;
use crate::prelude::*;
use crate::team::settings::Policy;

mod dead_letter;
pub use crate::event::delivery as event;
mod query;
mod recorded;
mod schedule;
pub(crate) mod view;

pub use dead_letter::DeadLetter;
pub(crate) use schedule::attempt_end;
pub use schedule::{Due, Step};

pub(crate) use dead_letter::{days, of_day};

/// By message id.
const DELIVERY: u8 = 0x40;
/// By due time and message id.
const DUE: u8 = 0x41;
/// By id of a dead letter: the event that recorded it.
const DEAD_LETTER: u8 = 0x42;
/// By UTC day: the first and the last dead letter of it.
const DAY: u8 = 0x43;
/// Series: all dead letters under the empty name, and marks by recipient.
const DEAD_LETTERS: u8 = 0xA0;

/// How a delivery stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum State {
    /// It waits for the ack.
    #[default]
    Open,
    /// That event acknowledged it.
    Acked(u64),
    /// That event made it a dead letter.
    Dead(u64),
}

/// The delivery of a message.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize,
)]
pub struct Delivery {
    /// The message.
    #[rkyv(with = Skip)]
    pub message_id: String,
    /// The event that required it; 0 where only the dead letter is known.
    pub required: u64,
    /// The id of that event.
    #[rkyv(with = As<[u8; 16]>)]
    pub required_id: Option<EventId>,
    /// When its first attempt began.
    pub started_at: Timestamp,
    /// When it is tried again, and how often.
    pub policy: Policy,
    /// Attempts made so far.
    pub attempt: u32,
    /// When the last of them ends.
    pub ends_at: Timestamp,
    /// How it stands.
    #[rkyv(with = As<(u8, u64)>)]
    pub state: State,
    /// The last dead letter of this message.
    pub dead_letter: Option<String>,
    /// The message's recipient.
    pub to: String,
}
row!(Delivery);

/// As a number, and the event that made it so.
impl Stored<(u8, u64)> for State {
    fn stored(&self) -> (u8, u64) {
        match self {
            State::Open => (0, 0),
            State::Acked(seq) => (1, *seq),
            State::Dead(seq) => (2, *seq),
        }
    }
    fn found((state, seq): (u8, u64)) -> State {
        match state {
            1 => State::Acked(seq),
            2 => State::Dead(seq),
            _ => State::Open,
        }
    }
}

pub(crate) fn apply(tx: &mut Tx<'_>, recorded: Recorded<'_>) -> Result<()> {
    let event = recorded.event;
    match recorded.fact {
        Fact::Delivery(fact) => match &**fact {
            DeliveryFact::Required(required) => require(tx, event, required),
            DeliveryFact::Retry(retry) => attempt(tx, retry),
            DeliveryFact::Acked(acked) => close(
                tx,
                &acked.message_id,
                |row| row.state == State::Open,
                event.seq,
            ),
            DeliveryFact::Dead(dead) => bury(tx, event, dead),
        },
        Fact::Message(fact) => match &**fact {
            MessageFact::Acked(acked) => {
                let own = |row: &Delivery| row.to == acked.agent;
                close(tx, &acked.message_id, own, event.seq)
            }
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

fn require(tx: &mut Tx<'_>, event: &Event<'_>, required: &DeliveryRequired) -> Result<()> {
    let key = key_of(DELIVERY, required.message_id.as_bytes());
    let before: Option<Delivery> = tx.get(&key)?;
    let mut dead_letter = None;
    if let Some(before) = before {
        unschedule(tx, &required.message_id, &before);
        dead_letter = before.dead_letter;
    }
    if let Some(id) = dead_letter.as_deref().filter(|_| required.requeued) {
        dead_letter::requeued(tx, id, event.seq)?;
    }
    let timeout = required.policy.ack_timeout_seconds;
    let started_at = required
        .due_at
        .map_or(event.created_at, |due| schedule::start_of(due, timeout));
    let row = Delivery {
        message_id: required.message_id.clone(),
        required: event.seq,
        required_id: Some(event.id),
        started_at,
        ends_at: attempt_end(started_at, timeout, 1),
        policy: required.policy,
        attempt: 1,
        state: State::Open,
        dead_letter,
        to: recipient(event),
    };
    schedule(tx, &required.message_id, &row);
    tx.put(&key, &row);
    Ok(())
}

fn attempt(tx: &mut Tx<'_>, retry: &DeliveryAttempt) -> Result<()> {
    let message_id = retry.message_id.as_str();
    let key = key_of(DELIVERY, message_id.as_bytes());
    let Some(mut row) = tx.get::<Delivery>(&key)? else {
        return Ok(());
    };
    if row.state != State::Open || retry.attempt <= row.attempt {
        return Ok(());
    }
    unschedule(tx, message_id, &row);
    let timeout = row.policy.ack_timeout_seconds;
    let by_number = || attempt_end(row.started_at, timeout, retry.attempt);
    row.ends_at = retry.ends_at.unwrap_or_else(by_number);
    row.attempt = retry.attempt;
    schedule(tx, message_id, &row);
    tx.put(&key, &row);
    Ok(())
}

/// An ack closes an open delivery, or marks its dead letter.
fn close(
    tx: &mut Tx<'_>,
    message_id: &str,
    counts: impl Fn(&Delivery) -> bool,
    seq: u64,
) -> Result<()> {
    let key = key_of(DELIVERY, message_id.as_bytes());
    let Some(mut row) = tx.get::<Delivery>(&key)?.filter(counts) else {
        return Ok(());
    };
    if matches!(row.state, State::Acked(_)) {
        return Ok(());
    }
    if let Some(id) = &row.dead_letter {
        dead_letter::acked(tx, id, seq)?;
    }
    if row.state == State::Open {
        unschedule(tx, message_id, &row);
        row.state = State::Acked(seq);
        tx.put(&key, &row);
    }
    Ok(())
}

fn bury(tx: &mut Tx<'_>, event: &Event<'_>, dead: &DeliveryDead) -> Result<()> {
    if !dead_letter::keep(tx, event, dead)? {
        return Ok(());
    }
    let key = key_of(DELIVERY, dead.message_id.as_bytes());
    let mut row = match tx.get::<Delivery>(&key)? {
        Some(row) => row,
        // History of which only the end is known.
        None => Delivery {
            attempt: dead.attempts,
            to: recipient(event),
            ..Delivery::default()
        },
    };
    unschedule(tx, &dead.message_id, &row);
    if !matches!(row.state, State::Acked(_)) {
        row.state = State::Dead(event.seq);
    }
    row.dead_letter = Some(dead.id.clone());
    tx.put(&key, &row);
    Ok(())
}

fn schedule(tx: &mut Tx<'_>, message_id: &str, row: &Delivery) {
    tx.mark(&timed(DUE, row.due_at().micros(), message_id.as_bytes()));
}

fn unschedule(tx: &mut Tx<'_>, message_id: &str, row: &Delivery) {
    if row.state == State::Open {
        tx.delete(&timed(DUE, row.due_at().micros(), message_id.as_bytes()));
    }
}

fn recipient(event: &Event<'_>) -> String {
    event
        .refs
        .get(RefKind::Agent)
        .unwrap_or_default()
        .to_owned()
}

impl Delivery {
    /// When the attempt that now waits ends.
    pub fn due_at(&self) -> Timestamp {
        self.ends_at
    }
    /// When the first attempt ends; from then on the ack is overdue.
    pub fn first_due_at(&self) -> Timestamp {
        attempt_end(self.started_at, self.policy.ack_timeout_seconds, 1)
    }
    /// When the last attempt ends at the earliest, so that the message becomes a dead letter.
    pub fn dead_at(&self) -> Timestamp {
        let attempts = self.policy.max_retries.saturating_add(1);
        let left = attempts.saturating_sub(self.attempt);
        match left {
            0 => self.ends_at,
            left => attempt_end(self.ends_at, self.policy.ack_timeout_seconds, left),
        }
    }
}

fn letter_key(seq: u64) -> Vec<u8> {
    numbered(DEAD_LETTERS, "", seq)
}
