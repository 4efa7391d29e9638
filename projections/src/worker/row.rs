//! How what is known of workers is stored.

use crate::prelude::*;
use crate::worker::event::{Heartbeat, Identity, ShutdownAck, ShutdownRequest, StatusChange};
use crate::worker::supervision::{Approval, Baseline};

/// By worker.
pub(super) const IDENTITY: u8 = 0x50;
/// By worker.
pub(super) const HEARTBEAT: u8 = 0x51;
/// By worker.
pub(super) const STATUS: u8 = 0x52;
/// By worker: the event that holds its instructions.
pub(super) const INBOX: u8 = 0x53;
/// By worker.
pub(super) const SHUTDOWN_REQUEST: u8 = 0x54;
/// By worker.
pub(super) const SHUTDOWN_ACK: u8 = 0x55;
/// By worker: the event that told of its last becoming idle.
pub(super) const LAST_IDLE: u8 = 0x56;
/// By worker.
pub(super) const BASELINE: u8 = 0x57;
/// By task.
pub(super) const APPROVAL: u8 = 0x58;
/// One: the event that holds the monitor's snapshot.
pub(super) const SNAPSHOT: u8 = 0x59;
/// By type: the last reported event.
pub(super) const REPORTED: u8 = 0x5A;
/// One.
pub(super) const PHASE: u8 = 0x5B;

#[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
/// Something that is known, with the event that last said it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Noted<T> {
    /// The event that said it.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// What was said.
    pub what: T,
}

words! {
    /// A thing that is known of a worker; its name is that of its view file.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum WorkerPart {
        /// Who it is.
        Identity = "identity.json",
        /// Its last sign of life.
        Heartbeat = "heartbeat.json",
        /// What it does.
        Status = "status.json",
        /// Its instructions.
        Inbox = "inbox.md",
        /// That it was asked to stop.
        ShutdownRequest = "shutdown-request.json",
        /// What it says to that.
        ShutdownAck = "shutdown-ack.json",
    }
}

impl WorkerPart {
    pub(super) fn namespace(self) -> u8 {
        match self {
            WorkerPart::Identity => IDENTITY,
            WorkerPart::Heartbeat => HEARTBEAT,
            WorkerPart::Status => STATUS,
            WorkerPart::Inbox => INBOX,
            WorkerPart::ShutdownRequest => SHUTDOWN_REQUEST,
            WorkerPart::ShutdownAck => SHUTDOWN_ACK,
        }
    }
}

row!(Noted<Identity>);
row!(Noted<Heartbeat>);
row!(Noted<StatusChange>);
row!(Noted<ShutdownRequest>);
row!(Noted<ShutdownAck>);
row!(Noted<Approval>);
row!(Noted<Baseline>);
row!(Noted<String>);

impl<T: Clone> Noted<T> {
    pub(super) fn of(seq: u64, at: Timestamp, what: &T) -> Noted<T> {
        let what = what.clone();
        Noted { seq, at, what }
    }
}
