//! How a task lies in the derived store: its row, and the keys of the indexes over it.

use super::{Claim, ClaimState, Governed, Reported, Status, Task, TaskCounts};
use crate::message::Priority;
use crate::natural;
use crate::prelude::*;

/// By id, in natural order (so are the indexes).
pub(super) const TASK: u8 = 0x30;
/// By status.
pub(super) const BY_STATUS: u8 = 0x31;
/// By owner and status.
pub(super) const BY_OWNER: u8 = 0x32;
/// In state `blocked`, or reported blocked.
pub(super) const BLOCKED: u8 = 0x33;
/// Unfinished, by the time of the last update.
pub(super) const OPEN: u8 = 0x34;
/// How many in each state.
pub(super) const COUNTS: u8 = 0x35;
/// By owner: how many in each state.
const OWNED: u8 = 0x3C;
/// Live claims, by the end of their lease.
pub(super) const LEASES: u8 = 0x3D;
/// Bytes of a key by time before the natural key.
pub(super) const TIMED_BYTES: usize = 9;
/// Completed by the holder of a claim, by the time of that.
pub(super) const COMPLETED: u8 = 0x45;
/// The largest number that is the id of a task.
pub(super) const NUMBERED: u8 = 0x3E;
/// One series: messages that came too late.
pub(super) const SUPERSEDED: u8 = 0x90;

#[derive(Debug, Clone, Default, PartialEq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub(super) struct TaskRow {
    pub created_at: i64,
    pub updated_at: i64,
    pub owner: Option<String>,
    pub assigned_by: Option<String>,
    pub subject: Option<String>,
    pub details: Option<String>,
    pub status: u8,
    pub progress: Option<String>,
    pub eta: Option<String>,
    pub blocked: bool,
    pub note: Option<String>,
    pub trace_id: Option<String>,
    pub last_update_from: Option<String>,
    pub priority: u8,
    pub deps: Vec<String>,
    pub ignored_deps: Vec<String>,
    pub claim_governed: bool,
    pub reported_status: Option<u8>,
    pub reported_owner: Option<String>,
    /// What else messages said of a claim-governed task, if any did.
    pub reported: Option<Box<ReportedRow>>,
    pub snapshot_version: u64,
    pub version: u64,
    pub last_message_id: String,
    pub last_message_created_at: i64,
    pub seq: u64,
    /// What only commands make of a task; most tasks of an imported history have none.
    pub governed: Option<Box<GovernedRow>>,
}
row!(TaskRow);

#[derive(Debug, Clone, Default, PartialEq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub(super) struct ReportedRow {
    pub blocked: bool,
    pub progress: Option<String>,
    pub eta: Option<String>,
    pub note: Option<String>,
    pub by: String,
    pub at: i64,
}

#[derive(Debug, Clone, Default, PartialEq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub(super) struct GovernedRow {
    pub requires_code_change: Option<bool>,
    pub result: Option<String>,
    pub error: Option<String>,
    pub started_at: Option<i64>,
    pub completed_at: Option<i64>,
    pub epoch: u64,
    pub claim: Option<ClaimRow>,
    pub resources: Vec<String>,
    pub shared: Option<bool>,
    pub extra: Option<String>,
}

#[derive(Debug, Clone, PartialEq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub(super) struct ClaimRow {
    pub owner: String,
    pub token: String,
    pub leased_until: i64,
    pub state: u8,
}

row!(TaskCounts);

impl TaskRow {
    /// The task of that id.
    pub fn into_task(self, task_id: String) -> Task {
        // Rows pass a checksum; a number that names nothing cannot come from our own writing.
        let json = |text: String| Json::parse(&text).ok();
        Task {
            task_id,
            created_at: time(self.created_at),
            updated_at: time(self.updated_at),
            owner: self.owner,
            assigned_by: self.assigned_by,
            subject: self.subject,
            details: self.details,
            status: status(self.status),
            progress: self.progress.and_then(json),
            eta: self.eta.and_then(json),
            blocked: self.blocked,
            note: self.note,
            trace_id: self.trace_id,
            last_update_from: self.last_update_from,
            priority: Priority::ALL
                .get(usize::from(self.priority))
                .copied()
                .unwrap_or_default(),
            deps: self.deps,
            ignored_deps: self.ignored_deps,
            claim_governed: self.claim_governed,
            reported_status: self.reported_status.map(status),
            reported_owner: self.reported_owner,
            reported: self
                .reported
                .map(|reported| reported.into_reported())
                .unwrap_or_default(),
            snapshot_version: self.snapshot_version,
            version: self.version,
            last_message_id: self.last_message_id,
            last_message_created_at: time(self.last_message_created_at),
            seq: self.seq,
            governed: self
                .governed
                .map(|governed| governed.into_governed())
                .unwrap_or_default(),
        }
    }

    /// The live claim.
    pub fn claim(&self) -> Option<&ClaimRow> {
        let claim = self.governed.as_ref()?.claim.as_ref()?;
        (claim.state == ClaimState::Live as u8).then_some(claim)
    }

    /// Whether it belongs into the list of blocked tasks: also where only whoever works on it says so.
    fn is_blocked(&self) -> bool {
        let is = |status: Status| self.status == status as u8;
        let reported = |reported: &ReportedRow| reported.blocked;
        let stuck = is(Status::InProgress) && self.reported.as_deref().is_some_and(reported);
        self.blocked || stuck || is(Status::Blocked)
    }

    /// The keys by which a task with the natural key `natural` is found.
    pub fn index_keys(&self, natural: &[u8]) -> Vec<Vec<u8>> {
        let mut keys = vec![with_status(key_of(BY_STATUS, b""), self.status, natural)];
        if let Some(owner) = &self.owner {
            keys.push(with_status(owner_prefix(owner), self.status, natural));
        }
        if self.is_blocked() {
            keys.push(key_of(BLOCKED, natural));
        }
        if !Status::ALL
            .get(usize::from(self.status))
            .is_some_and(|status| status.is_final())
        {
            keys.push(timed_key(OPEN, self.updated_at, natural));
        }
        if let Some(claim) = self.claim() {
            keys.push(timed_key(LEASES, claim.leased_until, natural));
        }
        if let Some(at) = self.completed_at() {
            keys.push(timed_key(COMPLETED, at, natural));
        }
        keys
    }

    /// When the holder of a claim completed it: what messages say of a task tells of no completion.
    fn completed_at(&self) -> Option<i64> {
        let completed = self.claim_governed && self.status == Status::Completed as u8;
        let governed = self.governed.as_ref().filter(|_| completed);
        governed.and_then(|governed| governed.completed_at)
    }
}

impl ReportedRow {
    fn into_reported(self) -> Reported {
        let json = |text: String| Json::parse(&text).ok();
        Reported {
            blocked: self.blocked,
            progress: self.progress.and_then(json),
            eta: self.eta.and_then(json),
            note: self.note,
            by: Some(self.by),
            at: Some(time(self.at)),
        }
    }
}

impl GovernedRow {
    fn into_governed(self) -> Governed {
        let state = |at: u8| {
            ClaimState::ALL
                .get(usize::from(at))
                .copied()
                .unwrap_or(ClaimState::Ended)
        };
        Governed {
            requires_code_change: self.requires_code_change,
            result: self.result,
            error: self.error,
            started_at: self.started_at.map(time),
            completed_at: self.completed_at.map(time),
            epoch: self.epoch,
            claim: self.claim.map(|claim| Claim {
                owner: claim.owner,
                token: claim.token,
                leased_until: time(claim.leased_until),
                state: state(claim.state),
            }),
            resources: self.resources,
            shared: self.shared,
            extra: self.extra.and_then(|text| Json::parse(&text).ok()),
        }
    }
}

fn time(micros: i64) -> Timestamp {
    Timestamp::from_micros(micros).unwrap_or_default()
}

/// The key of an index by time. Times of a log are not before 1970.
pub(super) fn timed_key(index: u8, at: i64, natural: &[u8]) -> Vec<u8> {
    let mut key = key_of(index, &at.to_be_bytes());
    key.extend_from_slice(natural);
    key
}

/// The natural key of an id.
pub(super) fn natural_key(id: &str) -> Vec<u8> {
    let mut key = Vec::with_capacity(id.len() + 8);
    natural::encode(id, &mut key);
    key
}

/// The key of a task.
pub(super) fn task_key(id: &str) -> Vec<u8> {
    key_of(TASK, &natural_key(id))
}

/// The key of an owner's counts.
pub(super) fn owned_key(owner: &str) -> Vec<u8> {
    key_of(OWNED, owner.as_bytes())
}

/// The beginning of the keys of an owner's tasks.
pub(super) fn owner_prefix(owner: &str) -> Vec<u8> {
    let mut key = key_of(BY_OWNER, owner.as_bytes());
    key.push(0);
    key
}

fn with_status(mut prefix: Vec<u8>, status: u8, natural: &[u8]) -> Vec<u8> {
    prefix.push(status);
    prefix.extend_from_slice(natural);
    prefix
}

/// The status of a task as a fold finds it.
pub(crate) fn status_in(tx: &Tx<'_>, id: &str) -> Result<Option<Status>> {
    let row: Option<TaskRow> = tx.get(&task_key(id))?;
    Ok(row.map(|row| status(row.status)))
}

fn status(at: u8) -> Status {
    let known = Status::ALL.get(usize::from(at)).copied();
    known.unwrap_or(Status::Pending)
}
