//! Dispatch requests: what a worker is to be told, and how far that has come.
//!
//! `pending -> notified | failed`, `notified -> delivered | failed`; the last two are final. A step that is not one of
//! these changes nothing. An ack of the message settles its request: whoever acknowledges was told.

use super::marks;
use super::row::{DISPATCH, OPEN_DISPATCH};
use crate::message::event::{DispatchMoved, DispatchRequested};
use crate::prelude::*;
use crate::words;

words! {
    /// How far a request has come.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum DispatchStatus {
        /// Nobody did anything about it.
        Pending = "pending",
        /// The worker was told.
        Notified = "notified",
        /// The worker has what it was told of.
        Delivered = "delivered",
        /// Nobody could tell it.
        Failed = "failed",
    }
}

impl DispatchStatus {
    /// Whether something is left to be done.
    pub fn is_open(self) -> bool {
        matches!(self, DispatchStatus::Pending | DispatchStatus::Notified)
    }
    /// Whether it can become `next`.
    pub fn leads_to(self, next: DispatchStatus) -> bool {
        use DispatchStatus::{Delivered, Failed, Notified, Pending};
        matches!(
            (self, next),
            (Pending, Notified | Failed) | (Notified, Delivered | Failed)
        )
    }
    fn of(byte: u8) -> DispatchStatus {
        let known = DispatchStatus::ALL.get(usize::from(byte)).copied();
        known.unwrap_or(DispatchStatus::Failed)
    }
}

/// A request to tell a worker something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dispatch {
    /// What was asked for.
    pub request: DispatchRequested,
    /// How far it has come.
    pub status: DispatchStatus,
    /// How often its status changed.
    pub attempt_count: u64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When its status last changed.
    pub updated_at: Timestamp,
    /// When the worker was told.
    pub notified_at: Option<Timestamp>,
    /// When the worker had it.
    pub delivered_at: Option<Timestamp>,
    /// When it failed.
    pub failed_at: Option<Timestamp>,
    /// Why it failed.
    pub last_reason: Option<String>,
}

/// Times in microseconds.
#[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
struct DispatchRow {
    kind: String,
    to: String,
    trigger: String,
    intent: Option<String>,
    message_id: Option<String>,
    transport: String,
    fallback: bool,
    status: u8,
    attempts: u64,
    created: i64,
    updated: i64,
    notified: Option<i64>,
    delivered: Option<i64>,
    failed: Option<i64>,
    reason: Option<String>,
}
row!(DispatchRow);

/// A request; an id counts once.
pub(super) fn request(
    tx: &mut Tx<'_>,
    event: &Event<'_>,
    request: &DispatchRequested,
) -> Result<()> {
    let key = key_of(DISPATCH, request.request_id.as_bytes());
    if tx.has(&key)? {
        return Ok(());
    }
    let at = event.created_at.micros();
    let row = DispatchRow {
        kind: request.kind.clone(),
        to: request.to_worker.clone(),
        trigger: request.trigger_message.clone(),
        intent: request.intent.clone(),
        message_id: request.message_id.clone(),
        transport: request.transport_preference.clone(),
        fallback: request.fallback_allowed,
        status: DispatchStatus::Pending as u8,
        attempts: 0,
        created: at,
        updated: at,
        notified: None,
        delivered: None,
        failed: None,
        reason: None,
    };
    tx.put(&key, &row);
    tx.mark(&open_key(&request.request_id));
    marks::count_dispatch(tx, &row.to, true)?;
    match &request.message_id {
        Some(message) => marks::requested(tx, message, &request.request_id),
        None => Ok(()),
    }
}

/// A step of a request.
pub(super) fn step(
    tx: &mut Tx<'_>,
    event: &Event<'_>,
    to: DispatchStatus,
    moved: &DispatchMoved,
) -> Result<()> {
    let key = key_of(DISPATCH, moved.request_id.as_bytes());
    let Some(mut row) = tx.get::<DispatchRow>(&key)? else {
        return Ok(());
    };
    if !row.advance(to, event.created_at.micros()) {
        return Ok(());
    }
    row.reason.clone_from(&moved.reason);
    put(tx, &moved.request_id, &row)
}

/// The message of a request was acknowledged.
pub(super) fn settle(tx: &mut Tx<'_>, event: &Event<'_>, request: &str) -> Result<()> {
    let key = key_of(DISPATCH, request.as_bytes());
    let Some(mut row) = tx.get::<DispatchRow>(&key)? else {
        return Ok(());
    };
    let at = event.created_at.micros();
    row.advance(DispatchStatus::Notified, at);
    match row.advance(DispatchStatus::Delivered, at) {
        true => put(tx, request, &row),
        false => Ok(()),
    }
}

/// After a step.
fn put(tx: &mut Tx<'_>, request: &str, row: &DispatchRow) -> Result<()> {
    tx.put(&key_of(DISPATCH, request.as_bytes()), row);
    if DispatchStatus::of(row.status).is_open() {
        return Ok(());
    }
    tx.delete(&open_key(request));
    marks::count_dispatch(tx, &row.to, false)
}

fn open_key(request: &str) -> Vec<u8> {
    key_of(OPEN_DISPATCH, request.as_bytes())
}

impl Live {
    /// Requests to tell somebody something that are open, by their ids.
    pub fn open_dispatches(&self, limit: usize) -> Result<Vec<Dispatch>> {
        let mut open = Vec::new();
        for entry in self.rows().prefix(&[OPEN_DISPATCH], false).take(limit) {
            let id = String::from_utf8_lossy(entry?.behind(1)).into_owned();
            open.extend(self.dispatch(&id)?);
        }
        Ok(open)
    }
    /// A dispatch request by its id.
    pub fn dispatch(&self, id: &str) -> Result<Option<Dispatch>> {
        let row: Option<DispatchRow> = self.rows().get(&key_of(DISPATCH, id.as_bytes()))?;
        Ok(row.map(|row| Dispatch {
            status: DispatchStatus::of(row.status),
            attempt_count: row.attempts,
            created_at: time(row.created),
            updated_at: time(row.updated),
            notified_at: row.notified.map(time),
            delivered_at: row.delivered.map(time),
            failed_at: row.failed.map(time),
            last_reason: row.reason,
            request: DispatchRequested {
                request_id: id.to_owned(),
                kind: row.kind,
                to_worker: row.to,
                trigger_message: row.trigger,
                intent: row.intent,
                message_id: row.message_id,
                transport_preference: row.transport,
                fallback_allowed: row.fallback,
            },
        }))
    }
}

impl DispatchRow {
    /// Goes on, if it may. Whether it did.
    fn advance(&mut self, to: DispatchStatus, at: i64) -> bool {
        if !DispatchStatus::of(self.status).leads_to(to) {
            return false;
        }
        match to {
            DispatchStatus::Pending => {}
            DispatchStatus::Notified => self.notified = Some(at),
            DispatchStatus::Delivered => self.delivered = Some(at),
            DispatchStatus::Failed => self.failed = Some(at),
        }
        self.status = to as u8;
        self.attempts += 1;
        self.updated = at;
        true
    }
}
