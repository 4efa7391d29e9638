//! Stored rows of workers.

use crate::event::supervision::{Approval, Baseline};
use crate::event::worker::{Heartbeat, Identity, ShutdownAck, ShutdownRequest, StatusChange};
use crate::prelude::*;

/// Declares the facts about a worker, a task or the team: namespace, query and row of each.
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
    /// Returns the identity of a worker; `None` if the worker never registered.
    IDENTITY = 0x50: identity(worker) -> LastKnown<Identity>,
    /// Returns a worker's last heartbeat.
    HEARTBEAT = 0x51: heartbeat(worker) -> LastKnown<Heartbeat>,
    /// Returns a worker's last reported status.
    STATUS = 0x52: worker_status(worker) -> LastKnown<StatusChange>,
    /// Returns the event with a worker's instructions.
    INBOX = 0x53: worker_inbox(worker) -> u64,
    /// Returns the last shutdown request to a worker.
    SHUTDOWN_REQUEST = 0x54: shutdown_request(worker) -> LastKnown<ShutdownRequest>,
    /// Returns a worker's last answer to a shutdown request.
    SHUTDOWN_ACK = 0x55: shutdown_ack(worker) -> LastKnown<ShutdownAck>,
    /// Returns the event by which a worker last became idle.
    LAST_IDLE = 0x56: last_idle(worker) -> u64,
    /// Returns the baseline of a worker's progress.
    BASELINE = 0x57: baseline(worker) -> LastKnown<Baseline>,
    /// Returns a reviewer's last decision on a task.
    APPROVAL = 0x58: approval(task) -> LastKnown<Approval>,
    /// Returns the last reported event of a type in [`TEAM_WIDE`](super::TEAM_WIDE).
    REPORTED = 0x5A: last_reported(kind) -> u64,
}

/// Single row: the event with the monitor's snapshot.
pub(super) const SNAPSHOT: u8 = 0x59;
/// Single row: the phase of the team.
pub(super) const PHASE: u8 = 0x5B;
/// Namespace of tasks whose required approval was last rejected; key: task id.
pub(super) const REJECTED: u8 = 0x5C;

#[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
/// A fact, and the last event that recorded it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastKnown<T> {
    /// Event that recorded the fact.
    pub seq: u64,
    /// Time of the event that recorded the fact.
    pub at: Timestamp,
    /// The fact.
    pub what: T,
}

words! {
    /// A part of a worker. The name of a part is the name of the part's view file.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum WorkerPart {
        /// Identity.
        Identity = "identity.json",
        /// Last heartbeat.
        Heartbeat = "heartbeat.json",
        /// Status.
        Status = "status.json",
        /// Instructions.
        Inbox = "inbox.md",
        /// Shutdown request.
        ShutdownRequest = "shutdown-request.json",
        /// Answer to a shutdown request.
        ShutdownAck = "shutdown-ack.json",
    }
}

impl WorkerPart {
    /// Returns the namespace of the part's row. The first namespaces of workers are the namespaces of the parts, in the order of the parts.
    pub(super) fn namespace(self) -> u8 {
        IDENTITY + self as u8
    }
}

row!(LastKnown<Identity>);
row!(LastKnown<Heartbeat>);
row!(LastKnown<StatusChange>);
row!(LastKnown<ShutdownRequest>);
row!(LastKnown<ShutdownAck>);
row!(LastKnown<Approval>);
row!(LastKnown<Baseline>);
row!(LastKnown<String>);

impl<T: Clone> LastKnown<T> {
    pub(super) fn new(seq: u64, at: Timestamp, what: &T) -> LastKnown<T> {
        let what = what.clone();
        LastKnown { seq, at, what }
    }
}
