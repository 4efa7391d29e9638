//! How what is known of workers is stored.

use crate::event::supervision::{Approval, Baseline};
use crate::event::worker::{Heartbeat, Identity, ShutdownAck, ShutdownRequest, StatusChange};
use crate::prelude::*;

/// Declares what is known of a worker, a task or the team: its namespace, the question for it, and its row.
macro_rules! known {
    ($($(#[doc = $doc:literal])+ $namespace:ident = $byte:literal: $question:ident($of:ident) -> $row:ty,)*) => {
        $(pub(super) const $namespace: u8 = $byte;)*

        impl TeamState {
            $($(#[doc = $doc])+
            pub fn $question(&self, $of: &str) -> Result<Option<$row>> {
                self.rows().get(&key_of($namespace, $of.as_bytes()))
            })*
        }
    };
}

known! {
    /// Who a worker is; `None` for one that never registered.
    IDENTITY = 0x50: identity(worker) -> Noted<Identity>,
    /// A worker's last sign of life.
    HEARTBEAT = 0x51: heartbeat(worker) -> Noted<Heartbeat>,
    /// What a worker last said that it does.
    STATUS = 0x52: worker_status(worker) -> Noted<StatusChange>,
    /// The event that holds a worker's instructions.
    INBOX = 0x53: worker_inbox(worker) -> u64,
    /// Who last asked a worker to stop.
    SHUTDOWN_REQUEST = 0x54: shutdown_request(worker) -> Noted<ShutdownRequest>,
    /// What a worker last said to that.
    SHUTDOWN_ACK = 0x55: shutdown_ack(worker) -> Noted<ShutdownAck>,
    /// The event that told of a worker's last becoming idle.
    LAST_IDLE = 0x56: last_idle(worker) -> u64,
    /// What a worker's progress is measured from.
    BASELINE = 0x57: baseline(worker) -> Noted<Baseline>,
    /// What a reviewer last decided on a task.
    APPROVAL = 0x58: approval(task) -> Noted<Approval>,
    /// The last reported event of that type, which is one of [`TEAM_WIDE`](super::TEAM_WIDE).
    REPORTED = 0x5A: last_reported(kind) -> u64,
}

/// One: the event that holds the monitor's snapshot.
pub(super) const SNAPSHOT: u8 = 0x59;
/// One: how far the team is.
pub(super) const PHASE: u8 = 0x5B;
/// Tasks whose required approval was rejected last, by id.
pub(super) const REJECTED: u8 = 0x5C;

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
    /// That of its row; the parts have the first ones of workers, in their order.
    pub(super) fn namespace(self) -> u8 {
        IDENTITY + self as u8
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
