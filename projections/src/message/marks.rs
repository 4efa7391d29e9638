//! Marks of a message besides its ack: the recipient got a notification of the message, or got the message itself. The first
//! mark of each kind counts. Neither mark implies the other, but an ack counts as a delivery.
//!
//! Undelivered plain mail is indexed by sender, recipient and body, so that no sender sends the same mail twice.

use super::dispatch;
use super::row::{DELIVERED, MAIL_COUNTS, MARKS, MESSAGE, MessageInfo, SAME, UNDELIVERED};
use crate::event::message::{Mark, MessageMarked};
use crate::prelude::*;

/// Marks of a message.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize,
)]
pub struct Marks {
    /// Time of the first notification.
    pub notified_at: Option<Timestamp>,
    /// Time of the first delivery or ack.
    pub delivered_at: Option<Timestamp>,
    /// Digest that indexes undelivered plain mail.
    same: Option<String>,
    /// Newest request to notify the recipient.
    pub dispatch: Option<String>,
}
row!(Marks);

/// Undelivered plain mail.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct SameMail {
    /// Id of the message.
    pub id: String,
    /// Creation time, as the sender gave it.
    pub created_at: Timestamp,
}
row!(SameMail);

/// Mail counts of an agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MailCounts {
    /// Number of undelivered messages.
    pub undelivered: u64,
    /// Number of requests to notify the agent that neither failed nor led to a delivery.
    pub open_dispatches: u64,
}

#[derive(Default, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
struct CountsRow {
    delivered: u64,
    dispatches: u64,
}
row!(CountsRow);

/// Indexes new plain mail.
pub(super) fn note_same(tx: &mut Tx<'_>, event: &Event<'_>, sent: &MessageSent, body: &str) {
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

/// Folds the first ack of a message.
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

/// Notes a request for a message. The newest request counts.
pub(super) fn requested(tx: &mut Tx<'_>, message_id: &str, request: &str) -> Result<()> {
    let id = message_id.as_bytes();
    if !tx.has(&key_of(MESSAGE, id))? {
        return Ok(());
    }
    tx.change(&key_of(MARKS, id), |marks: &mut Marks| {
        marks.dispatch = Some(request.to_owned());
    })
}

/// Changes the number of an agent's open requests by one.
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

/// Returns the digest that indexes plain mail. Zero bytes separate the parts. Names contain no zero bytes, so different parts never give
/// the same text.
fn digest(from: &str, to: &str, body: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in [from, "\0", to, "\0", body] {
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

impl TeamState {
    /// Returns the marks of a message.
    pub fn marks(&self, id: &str) -> Result<Marks> {
        let marks = self.rows().get(&key_of(MARKS, id.as_bytes()))?;
        Ok(marks.unwrap_or_default())
    }
    /// Returns the oldest undelivered plain mail with this sender, recipient and body.
    pub fn same_mail(&self, from: &str, to: &str, body: &str) -> Result<Option<SameMail>> {
        let series = key::series(SAME, digest(from, to, body).as_bytes());
        let first = self.rows().prefix(&series, false).next();
        first.map(|entry| entry?.row()).transpose()
    }
    /// Returns the number of undelivered messages and open requests of an agent.
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
