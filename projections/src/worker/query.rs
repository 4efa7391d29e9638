//! Questions to the staff's rows.

use super::row::{
    APPROVAL, BASELINE, HEARTBEAT, IDENTITY, INBOX, LAST_IDLE, Noted, NotedRow, PHASE, REPORTED,
    SHUTDOWN_ACK, SHUTDOWN_REQUEST, SNAPSHOT, STATUS, WorkerPart,
};
use crate::error::Result;
use crate::tx::{Row, Rows, key_of};
use crate::worker::event::{Heartbeat, Identity, ShutdownAck, ShutdownRequest, StatusChange};
use crate::worker::supervision::{Approval, Baseline};
use std::collections::BTreeSet;

fn noted<T>(rows: Rows<'_>, namespace: u8, name: &str) -> Result<Option<Noted<T>>>
where
    NotedRow<T>: Row,
{
    let row: Option<NotedRow<T>> = rows.get(&key_of(namespace, name.as_bytes()))?;
    Ok(row.map(Noted::from))
}

pub(crate) fn identity(rows: Rows<'_>, worker: &str) -> Result<Option<Noted<Identity>>> {
    noted(rows, IDENTITY, worker)
}

pub(crate) fn heartbeat(rows: Rows<'_>, worker: &str) -> Result<Option<Noted<Heartbeat>>> {
    noted(rows, HEARTBEAT, worker)
}

pub(crate) fn status(rows: Rows<'_>, worker: &str) -> Result<Option<Noted<StatusChange>>> {
    noted(rows, STATUS, worker)
}

pub(crate) fn inbox(rows: Rows<'_>, worker: &str) -> Result<Option<u64>> {
    rows.get(&key_of(INBOX, worker.as_bytes()))
}

pub(crate) fn shutdown_request(
    rows: Rows<'_>,
    worker: &str,
) -> Result<Option<Noted<ShutdownRequest>>> {
    noted(rows, SHUTDOWN_REQUEST, worker)
}

pub(crate) fn shutdown_ack(rows: Rows<'_>, worker: &str) -> Result<Option<Noted<ShutdownAck>>> {
    noted(rows, SHUTDOWN_ACK, worker)
}

pub(crate) fn last_idle(rows: Rows<'_>, worker: &str) -> Result<Option<u64>> {
    rows.get(&key_of(LAST_IDLE, worker.as_bytes()))
}

pub(crate) fn baseline(rows: Rows<'_>, worker: &str) -> Result<Option<Noted<Baseline>>> {
    noted(rows, BASELINE, worker)
}

pub(crate) fn approval(rows: Rows<'_>, task: &str) -> Result<Option<Noted<Approval>>> {
    noted(rows, APPROVAL, task)
}

pub(crate) fn monitor_snapshot(rows: Rows<'_>) -> Result<Option<u64>> {
    rows.get(&[SNAPSHOT])
}

pub(crate) fn last_reported(rows: Rows<'_>, kind: &str) -> Result<Option<u64>> {
    rows.get(&key_of(REPORTED, kind.as_bytes()))
}

pub(crate) fn phase(rows: Rows<'_>) -> Result<Option<Noted<String>>> {
    noted(rows, PHASE, "")
}

/// Everybody of whom a part is known, sorted.
pub(crate) fn workers(rows: Rows<'_>) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for part in WorkerPart::ALL {
        for entry in rows.prefix(&[part.namespace()], false) {
            names.insert(String::from_utf8_lossy(entry?.behind(1)).into_owned());
        }
    }
    Ok(names)
}

/// Which parts are known of a worker.
pub(crate) fn parts(rows: Rows<'_>, worker: &str) -> Result<Vec<WorkerPart>> {
    let mut parts = Vec::new();
    for part in WorkerPart::ALL {
        if rows.has(&key_of(part.namespace(), worker.as_bytes()))? {
            parts.push(part);
        }
    }
    Ok(parts)
}
