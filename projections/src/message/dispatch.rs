//! Dispatch requests: requests to notify a worker, and their progress.
//!
//! The status of a request goes `pending -> notified | failed`, then `notified -> delivered | failed`. `delivered` and `failed`
//! are final. Other steps are ignored. An ack of the message settles its request, because the recipient has read the message.

use super::marks;
use super::row::{DISPATCH, OPEN_DISPATCH};
use crate::event::message::{DispatchMoved, DispatchRequested};
use crate::prelude::*;

words! {
    /// Status of a request.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
    pub enum DispatchStatus {
        /// No notification was attempted.
        Pending = "pending",
        /// The worker was notified.
        Notified = "notified",
        /// The worker has the message.
        Delivered = "delivered",
        /// The worker could not be notified.
        Failed = "failed",
    }
}

impl DispatchStatus {
    /// Returns true if the status is not final.
    pub fn is_open(self) -> bool {
        matches!(self, DispatchStatus::Pending | DispatchStatus::Notified)
    }
    /// Returns true if `next` is a possible next status.
    pub fn leads_to(self, next: DispatchStatus) -> bool {
        use DispatchStatus::{Delivered, Failed, Notified, Pending};
        matches!(
            (self, next),
            (Pending, Notified | Failed) | (Notified, Delivered | Failed)
        )
    }
}

/// A request to notify a worker.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct Dispatch {
    /// The request's fields.
    pub request: DispatchRequested,
    /// Status.
    pub status: DispatchStatus,
    /// Number of status changes.
    pub attempt_count: u64,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time of the last status change.
    pub updated_at: Timestamp,
    /// Time of the notification.
    pub notified_at: Option<Timestamp>,
    /// Time of the delivery.
    pub delivered_at: Option<Timestamp>,
    /// Time of the failure.
    pub failed_at: Option<Timestamp>,
    /// Reason of the failure.
    pub last_reason: Option<String>,
}

row!(Dispatch);

/// Folds a request. A second request with the same id changes nothing.
pub(super) fn request(
    tx: &mut Tx<'_>,
    event: &Event<'_>,
    request: &DispatchRequested,
) -> Result<()> {
    let key = key_of(DISPATCH, request.request_id.as_bytes());
    if tx.has(&key)? {
        return Ok(());
    }
    let row = Dispatch {
        request: request.clone(),
        status: DispatchStatus::Pending,
        attempt_count: 0,
        created_at: event.created_at,
        updated_at: event.created_at,
        notified_at: None,
        delivered_at: None,
        failed_at: None,
        last_reason: None,
    };
    tx.put(&key, &row);
    tx.mark(&open_key(&request.request_id));
    marks::count_dispatch(tx, &request.to_worker, true)?;
    match &request.message_id {
        Some(message) => marks::requested(tx, message, &request.request_id),
        None => Ok(()),
    }
}

/// Folds a step of a request.
pub(super) fn step(
    tx: &mut Tx<'_>,
    event: &Event<'_>,
    to: DispatchStatus,
    moved: &DispatchMoved,
) -> Result<()> {
    let key = key_of(DISPATCH, moved.request_id.as_bytes());
    let Some(mut row) = tx.get::<Dispatch>(&key)? else {
        return Ok(());
    };
    if !row.advance(to, event.created_at) {
        return Ok(());
    }
    row.last_reason.clone_from(&moved.reason);
    put(tx, &moved.request_id, &row)
}

/// Settles a request whose message was acknowledged.
pub(super) fn settle(tx: &mut Tx<'_>, event: &Event<'_>, request: &str) -> Result<()> {
    let key = key_of(DISPATCH, request.as_bytes());
    let Some(mut row) = tx.get::<Dispatch>(&key)? else {
        return Ok(());
    };
    let at = event.created_at;
    row.advance(DispatchStatus::Notified, at);
    match row.advance(DispatchStatus::Delivered, at) {
        true => put(tx, request, &row),
        false => Ok(()),
    }
}

/// Stores a request after a step.
fn put(tx: &mut Tx<'_>, request: &str, row: &Dispatch) -> Result<()> {
    tx.put(&key_of(DISPATCH, request.as_bytes()), row);
    if row.status.is_open() {
        return Ok(());
    }
    tx.delete(&open_key(request));
    marks::count_dispatch(tx, &row.request.to_worker, false)
}

fn open_key(request: &str) -> Vec<u8> {
    key_of(OPEN_DISPATCH, request.as_bytes())
}

impl TeamState {
    /// Returns the open requests, ordered by id.
    pub fn open_dispatches(&self, limit: usize) -> Result<Vec<Dispatch>> {
        let mut open = Vec::new();
        for entry in self.rows().prefix(&[OPEN_DISPATCH], false).take(limit) {
            open.extend(self.dispatch(&entry?.name(1))?);
        }
        Ok(open)
    }
    /// Returns the dispatch request with this id.
    pub fn dispatch(&self, id: &str) -> Result<Option<Dispatch>> {
        let mut found: Option<Dispatch> = self.rows().get(&key_of(DISPATCH, id.as_bytes()))?;
        if let Some(found) = &mut found {
            found.request.request_id = id.to_owned();
        }
        Ok(found)
    }
}

impl Dispatch {
    /// Changes the status if the step is possible; returns true if the status changed.
    fn advance(&mut self, to: DispatchStatus, at: Timestamp) -> bool {
        if !self.status.leads_to(to) {
            return false;
        }
        match to {
            DispatchStatus::Pending => {}
            DispatchStatus::Notified => self.notified_at = Some(at),
            DispatchStatus::Delivered => self.delivered_at = Some(at),
            DispatchStatus::Failed => self.failed_at = Some(at),
        }
        self.status = to;
        self.attempt_count += 1;
        self.updated_at = at;
        true
    }
}
