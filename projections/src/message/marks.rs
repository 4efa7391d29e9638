//! What became of a message beside its ack: whether its recipient was notified of it and has it. The first of each counts;
//! neither leads to the other, but an ack is a delivery.
//!
//! Plain mail that was not delivered is found by its sender, recipient and body, so that it is not sent twice.

use super::dispatch;
use super::row::{DELIVERED, MAIL_COUNTS, MARKS, MESSAGE, MessageInfo, SAME, UNDELIVERED};
use crate::event::message::{Mark, MessageMarked};
use crate::prelude::*;

/// What became of a message.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize,
)]
pub struct Marks {
    /// When its recipient was first told of it.
    pub notified_at: Option<Timestamp>,
    /// When its recipient first had it, or acknowledged it.
    pub delivered_at: Option<Timestamp>,
    /// The digest by which undelivered plain mail is found.
    same: Option<String>,
    /// The newest request to tell its recipient.
    pub dispatch: Option<String>,
}
row!(Marks);

/// Plain mail that lies undelivered in an inbox.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct SameMail {
    /// Its id.
    pub id: String,
    /// When its sender says that it was created.
    pub created_at: Timestamp,
}
row!(SameMail);

/// An agent's mail in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MailCounts {
    /// Messages that are not delivered.
    pub undelivered: u64,
    /// Requests to tell it something that neither failed nor led to a delivery.
    pub open_dispatches: u64,
}

#[derive(Default, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
struct CountsRow {
    delivered: u64,
    dispatches: u64,
}
row!(CountsRow);

/// Plain mail came in.
pub(super) fn note_same(tx: &mut Tx<'_>, event: &Event<'_>, sent: &Sent, body: &str) {
    let digest = digest(&sent.from, &sent.to, body);
    let row = SameMail {
        id: sent.id.clone(),
        created_at: sent.created_at,
    };
    tx.put(&numbered(SAME, &digest, event.seq), &row);
    let marks = Marks {
        same: Some(digest),
        ..Marks::default()
    };
    tx.put(&key_of(MARKS, sent.id.as_bytes()), &marks);
}

pub(super) fn mark(
    tx: &mut Tx<'_>,
    event: &Event<'_>,
    mark: Mark,
    marked: &MessageMarked,
) -> Result<()> {
    let id = marked.message_id.as_bytes();
    let message: Option<MessageInfo> = tx.get(&key_of(MESSAGE, id))?;
    let Some(message) = message.filter(|message| message.to == marked.agent) else {
        return Ok(());
    };
    let key = key_of(MARKS, id);
    let mut marks: Marks = tx.get(&key)?.unwrap_or_default();
    let at = Some(event.created_at);
    match mark {
        Mark::Notified if marks.notified_at.is_none() => marks.notified_at = at,
        Mark::Delivered if marks.delivered_at.is_none() => {
            deliver(tx, &mut marks, &message, event)?;
            tx.mark(&numbered(DELIVERED, &message.to, message.seq));
        }
        Mark::Notified | Mark::Delivered => return Ok(()),
    }
    tx.put(&key, &marks);
    Ok(())
}

/// The first ack of a message.
pub(super) fn acknowledged(
    tx: &mut Tx<'_>,
    event: &Event<'_>,
    id: &str,
    message: &MessageInfo,
) -> Result<()> {
    let key = key_of(MARKS, id.as_bytes());
    let mut marks: Marks = tx.get(&key)?.unwrap_or_default();
    if marks.delivered_at.is_some() {
        tx.delete(&numbered(DELIVERED, &message.to, message.seq));
    } else {
        deliver(tx, &mut marks, message, event)?;
        tx.put(&key, &marks);
    }
    match &marks.dispatch {
        Some(request) => dispatch::settle(tx, event, request),
        None => Ok(()),
    }
}

fn deliver(
    tx: &mut Tx<'_>,
    marks: &mut Marks,
    message: &MessageInfo,
    event: &Event<'_>,
) -> Result<()> {
    marks.delivered_at = Some(event.created_at);
    tx.delete(&numbered(UNDELIVERED, &message.to, message.seq));
    if let Some(digest) = marks.same.take() {
        tx.delete(&numbered(SAME, &digest, message.seq));
    }
    recount(tx, &message.to, |counts| counts.delivered += 1)
}

/// A request is about a message; the newest counts.
pub(super) fn requested(tx: &mut Tx<'_>, message_id: &str, request: &str) -> Result<()> {
    let id = message_id.as_bytes();
    if !tx.has(&key_of(MESSAGE, id))? {
        return Ok(());
    }
    tx.change(&key_of(MARKS, id), |marks: &mut Marks| {
        marks.dispatch = Some(request.to_owned());
    })
}

/// One more request to tell an agent is open, or one less.
pub(super) fn count_dispatch(tx: &mut Tx<'_>, agent: &str, opened: bool) -> Result<()> {
    recount(tx, agent, |counts| {
        counts.dispatches = match opened {
            true => counts.dispatches + 1,
            false => counts.dispatches.saturating_sub(1),
        }
    })
}

fn recount(tx: &mut Tx<'_>, agent: &str, change: impl FnOnce(&mut CountsRow)) -> Result<()> {
    tx.change(&key_of(MAIL_COUNTS, agent.as_bytes()), change)
}

/// Names hold no zero byte, so different parts never give the same text.
fn digest(from: &str, to: &str, body: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in [from, "\0", to, "\0", body] {
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

impl TeamState {
    /// What became of a message beside its ack.
    pub fn marks(&self, id: &str) -> Result<Marks> {
        let marks = self.rows().get(&key_of(MARKS, id.as_bytes()))?;
        Ok(marks.unwrap_or_default())
    }
    /// The oldest plain mail of that sender, recipient and body that is not delivered.
    pub fn same_mail(&self, from: &str, to: &str, body: &str) -> Result<Option<SameMail>> {
        let series = key::series(SAME, digest(from, to, body).as_bytes());
        let first = self.rows().prefix(&series, false).next();
        first.map(|entry| entry?.row()).transpose()
    }
    /// How many messages of an agent are not delivered, and how many requests to tell it are open.
    pub fn mail_counts(&self, agent: &str) -> Result<MailCounts> {
        let row: Option<CountsRow> = self.rows().get(&key_of(MAIL_COUNTS, agent.as_bytes()))?;
        let row = row.unwrap_or_default();
        let received = self.agent(agent)?.received;
        Ok(MailCounts {
            undelivered: received.saturating_sub(row.delivered),
            open_dispatches: row.dispatches,
        })
    }
}
