//! Deliveries: messages that wait for an ack, their deadlines, and the dead letters.
//!
//! The schedule follows from the log alone. Each attempt gets a full timeout from the time of its decision. The event of the
//! attempt stores the end, because the event's own time may be later than the decision: times of the log never decrease. So a
//! period without ticks shortens no attempt. An index in order of time finds the due deliveries, so the cost depends on their
//! number, not on the number of waiting deliveries.

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

/// Namespace of deliveries; key: message id.
const DELIVERY: u8 = 0x40;
/// Namespace of due times; key: time and message id.
const DUE: u8 = 0x41;
/// Namespace of dead letters' events; key: dead letter id.
const DEAD_LETTER: u8 = 0x42;
/// Namespace of the first and last dead letter of a day; key: UTC day.
const DAY: u8 = 0x43;
/// Series of dead letters: all under the empty name, and markers by recipient.
const DEAD_LETTERS: u8 = 0xA0;

/// State of a delivery.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum State {
    /// The delivery waits for the ack.
    #[default]
    Open,
    /// The event with this seq acknowledged the message.
    Acked(u64),
    /// The event with this seq made the message a dead letter.
    Dead(u64),
}

/// The delivery of a message.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize,
)]
pub struct Delivery {
    /// Id of the message.
    #[rkyv(with = Skip)]
    pub message_id: String,
    /// Event that required the delivery; 0 if only the dead letter is known.
    pub required: u64,
    /// Id of the event that required the delivery.
    #[rkyv(with = As<[u8; 16]>)]
    pub required_id: Option<EventId>,
    /// Start of the first attempt.
    pub started_at: Timestamp,
    /// Ack timeout and number of retries.
    pub policy: Policy,
    /// Number of attempts so far.
    pub attempt: u32,
    /// End of the last attempt.
    pub ends_at: Timestamp,
    /// State.
    #[rkyv(with = As<(u8, u64)>)]
    pub state: State,
    /// Last dead letter of this message.
    pub dead_letter: Option<String>,
    /// Recipient of the message.
    pub to: String,
}
row!(Delivery);

/// The stored form of a state: a number for the variant, and the seq of the event.
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
            DeliveryFact::Dead(dead) => move_to_dead_letter(tx, event, dead),
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

/// Closes an open delivery after an ack, or marks its dead letter.
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

fn move_to_dead_letter(tx: &mut Tx<'_>, event: &Event<'_>, dead: &DeliveryDead) -> Result<()> {
    if !dead_letter::keep(tx, event, dead)? {
        return Ok(());
    }
    let key = key_of(DELIVERY, dead.message_id.as_bytes());
    let mut row = match tx.get::<Delivery>(&key)? {
        Some(row) => row,
        // Imported history may have only the end of a delivery.
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
    /// Returns the end of the current attempt.
    pub fn due_at(&self) -> Timestamp {
        self.ends_at
    }
    /// Returns the end of the first attempt. After this time the ack is overdue.
    pub fn first_due_at(&self) -> Timestamp {
        attempt_end(self.started_at, self.policy.ack_timeout_seconds, 1)
    }
    /// Returns the earliest time at which the message becomes a dead letter.
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
