//! Workers: identities, their last reports, and the supervision of the team.
//!
//! Each fact is one row with the event that recorded it last. Instructions and snapshots can be long, so they stay in the log,
//! and their rows have the seq of the event.

pub mod activity;
mod query;
mod row;
mod shown;
pub(crate) mod view;

pub use crate::event::{supervision, worker as event};

use crate::event::supervision::ATTENTION;
use crate::prelude::*;
pub use row::{LastKnown, WorkerPart};
pub use shown::{
    ApprovalShown, HeartbeatShown, ShutdownAckShown, ShutdownRequestShown, StatusShown, WorkerShown,
};

pub(crate) use query::{parts, workers};

use crate::event::supervision::{Reported, SupervisionFact};
use crate::event::worker::{WorkerAct, WorkerFact, WorkerState};
use row::{
    APPROVAL, BASELINE, HEARTBEAT, IDENTITY, INBOX, LAST_IDLE, PHASE, REJECTED, REPORTED,
    SHUTDOWN_ACK, SHUTDOWN_REQUEST, SNAPSHOT, STATUS,
};

/// Types of reported events that concern the whole team. The last event of each type is kept.
pub const TEAM_WIDE: [&str; 3] = [
    "all_workers_idle",
    "team_leader_nudge",
    "leader_notification_deferred",
];

pub(crate) fn apply(tx: &mut Tx<'_>, recorded: Recorded<'_>) -> Result<()> {
    let (seq, at) = (recorded.event.seq, recorded.event.created_at);
    match recorded.fact {
        Fact::Worker(fact) => note(tx, seq, at, fact),
        Fact::Supervision(fact) => supervise(tx, seq, at, fact),
        _ => {}
    }
    Ok(())
}

fn note(tx: &mut Tx<'_>, seq: u64, at: Timestamp, fact: &WorkerFact) {
    let key = |part| key_of(part, fact.worker.as_bytes());
    match &fact.act {
        WorkerAct::Identity(identity) => tx.put(&key(IDENTITY), &LastKnown::new(seq, at, identity)),
        WorkerAct::Heartbeat(beat) => tx.put(&key(HEARTBEAT), &LastKnown::new(seq, at, beat)),
        WorkerAct::Status(status) => {
            tx.put(&key(STATUS), &LastKnown::new(seq, at, status));
            if status.state == WorkerState::Idle {
                tx.put(&key(LAST_IDLE), &seq);
            }
        }
        WorkerAct::Inbox(_) => tx.put(&key(INBOX), &seq),
        WorkerAct::ShutdownRequested(request) => {
            tx.put(&key(SHUTDOWN_REQUEST), &LastKnown::new(seq, at, request));
        }
        WorkerAct::ShutdownAcked(ack) => tx.put(&key(SHUTDOWN_ACK), &LastKnown::new(seq, at, ack)),
    }
}

fn supervise(tx: &mut Tx<'_>, seq: u64, at: Timestamp, fact: &SupervisionFact) {
    let key = |namespace, name: &str| key_of(namespace, name.as_bytes());
    match fact {
        SupervisionFact::Approval(approval) => {
            let row = LastKnown::new(seq, at, approval);
            tx.put(&key(APPROVAL, &approval.task_id), &row);
            let rejected = key(REJECTED, &approval.task_id);
            match approval.is_rejected() {
                true => tx.mark(&rejected),
                false => tx.delete(&rejected),
            }
        }
        SupervisionFact::Attention(_) => tx.put(&key(REPORTED, ATTENTION), &seq),
        SupervisionFact::Snapshot(_) => tx.put(&[SNAPSHOT], &seq),
        SupervisionFact::Baselines(baselines) => {
            for (worker, baseline) in &baselines.workers {
                tx.put(&key(BASELINE, worker), &LastKnown::new(seq, at, baseline));
            }
        }
        SupervisionFact::Phase(phase) => tx.put(&[PHASE], &LastKnown::new(seq, at, &phase.to)),
        SupervisionFact::Gated => {}
        SupervisionFact::Reported(reported) => report(tx, seq, reported),
    }
}

/// Folds a report. A report of being idle does not change the worker's status. Such a report sets the event by which the worker
/// last became idle.
fn report(tx: &mut Tx<'_>, seq: u64, reported: &Reported) {
    let idle = reported.kind == "worker_idle"
        || (reported.kind == "worker_state_changed" && reported.state == Some(WorkerState::Idle));
    if idle && !reported.worker.is_empty() {
        tx.put(&key_of(LAST_IDLE, reported.worker.as_bytes()), &seq);
    }
    if TEAM_WIDE.contains(&reported.kind.as_str()) {
        tx.put(&key_of(REPORTED, reported.kind.as_bytes()), &seq);
    }
}
