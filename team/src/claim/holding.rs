//! Claims on tasks: their leases, and the check of a claim that a caller presents.
//!
//! A lease expires with time, but only an event can change a task. So a command on a task with an expired lease first records the
//! expiry, and then decides on the task in the state after that event.

use crate::command::Decision;
use crate::command::authority::ClaimProof;
use crate::prelude::*;
use crate::projections::task::event::{ClaimRef, Lease, TaskAct, TaskBlocked, TaskFact};
use crate::projections::task::{Claim, ClaimState};

/// Default length of a lease, in milliseconds.
pub const LEASE_MS: u64 = 900_000;
/// Minimum length of a lease, in milliseconds.
pub const LEASE_MS_MIN: u64 = 1_000;
/// Maximum length of a lease, in milliseconds.
pub const LEASE_MS_MAX: u64 = 86_400_000;

pub(crate) fn lease_end(lease_ms: Option<u64>, now: Timestamp) -> Result<Timestamp, Refusal> {
    let asked = lease_ms.unwrap_or(LEASE_MS);
    if !(LEASE_MS_MIN..=LEASE_MS_MAX).contains(&asked) {
        let rule = format!("lease_ms must be {LEASE_MS_MIN} to {LEASE_MS_MAX}, but is {asked}");
        return Err(Refusal::new(Code::InvalidInput, rule).field("lease_ms"));
    }
    // The cast is safe, because the range was checked before.
    Ok(now.plus_micros(asked as i64 * 1000))
}

/// The result of checking a [`ClaimProof`].
pub(crate) enum ClaimCheck<'a> {
    /// The proof belongs to the live claim.
    Holds(&'a Claim),
    /// The task is free. The caller released the task earlier, and no other agent has claimed the
    /// task since.
    GaveUp,
    Unclaimed,
}

/// A task with the events that the command will record. If the lease has expired, the expiry is the first event, and `task` is the task
/// after that event.
pub(crate) struct TaskDecision {
    pub task: Task,
    pub events: Vec<NewEvent>,
}

impl TaskDecision {
    /// Loads the task of a decision; refuses an unknown task.
    pub fn load(live: &Live, task_id: &str, now: Timestamp) -> Result<TaskDecision> {
        names::check_known("task_id", task_id)?;
        let task = live.task(task_id)?.ok_or_else(|| not_found(task_id))?;
        TaskDecision::from_task(live, task, now)
    }

    /// Starts a decision on a task that the caller has read already.
    pub fn from_task(live: &Live, mut task: Task, now: Timestamp) -> Result<TaskDecision> {
        let mut events = Vec::new();
        expire(live, &mut task, now, DEFAULT_ACTOR, &mut events)?;
        Ok(TaskDecision { task, events })
    }

    /// Appends an event about the task, and returns the event's index in the group.
    pub fn act(&mut self, act: TaskAct, actor: &str, agent: Option<&str>) -> usize {
        self.events.push(event(&self.task, act, actor, agent));
        self.events.len() - 1
    }

    /// Appends an event about the task. `cause` is the index of an earlier event in the group.
    pub fn follow(&mut self, act: TaskAct, actor: &str, agent: Option<&str>, cause: usize) {
        let mut event = event(&self.task, act, actor, agent);
        event.cause = Some(Cause::Earlier(cause));
        self.events.push(event);
    }

    /// Makes the task pending without an owner. If the task waits for dependencies, blocks the task instead.
    pub fn give_back(&mut self, live: &Live) -> Result<()> {
        self.task.owner = None;
        self.task.status = Status::Pending;
        block(live, &mut self.task, DEFAULT_ACTOR, &mut self.events)
    }

    /// Applies the rules. A refusal still records the expiry of a lease.
    pub fn decision<V>(
        mut self,
        rules: impl FnOnce(&mut TaskDecision) -> Result<V>,
    ) -> Result<Decision<V>> {
        let overdue = self.events.len();
        match rules(&mut self) {
            Ok(verdict) => Ok(Decision::Granted(verdict, self.events)),
            Err(Failure::Refused(refusal)) if overdue > 0 => {
                self.events.truncate(overdue);
                Ok(Decision::Denied(refusal, self.events))
            }
            Err(failure) => Err(failure),
        }
    }

    /// Refuses if the task's version differs from the expected version.
    pub fn check_version(&self, expected: Option<u64>) -> Result<(), Refusal> {
        self.expect(expected, Code::VersionConflict)
    }

    /// Refuses with `code` if the task's version differs from the expected version.
    pub fn expect(&self, expected: Option<u64>, code: Code) -> Result<(), Refusal> {
        check_expected(expected)?;
        let (id, version) = (&self.task.task_id, self.task.version);
        let Some(expected) = expected.filter(|expected| *expected != version) else {
            return Ok(());
        };
        let message = format!(
            "expected_version must be {version}, the version of task {id}, but is {expected}"
        );
        Err(self.refusal(code, message).field("expected_version"))
    }

    /// Refuses a finished task.
    pub fn check_open(&self) -> Result<(), Refusal> {
        let status = self.task.status;
        if !status.is_final() {
            return Ok(());
        }
        let (id, name) = (&self.task.task_id, status.name());
        let message = format!("task {id} is already {name}");
        let refusal = self.refusal(Code::AlreadyTerminal, message);
        Err(match status {
            Status::Failed => refusal.hint("to retry a failed task, reopen it"),
            _ => refusal,
        })
    }

    /// Checks the caller's claim on the task.
    pub fn check_claim(&self, proof: ClaimProof<'_>) -> Result<ClaimCheck<'_>, Refusal> {
        let Some(claim) = &self.task.governed.claim else {
            return Ok(ClaimCheck::Unclaimed);
        };
        match (proof.fits(&self.task, claim), claim.state) {
            (true, ClaimState::Live) => Ok(ClaimCheck::Holds(claim)),
            (true, ClaimState::Ended) => Ok(ClaimCheck::GaveUp),
            (true, ClaimState::Expired) => Err(self.expired(claim)),
            (false, _) => Err(self.not_yours(proof)),
        }
    }

    /// Returns the live claim of the caller. For commands that only the holder may run.
    pub fn claim_of(&self, proof: ClaimProof<'_>) -> Result<Claim, Refusal> {
        if let ClaimCheck::Holds(claim) = self.check_claim(proof)? {
            return Ok(claim.clone());
        }
        let (id, status) = (&self.task.task_id, self.task.status.name());
        let message = format!("task {id} is not claimed: its status is {status}");
        Err(self.refusal(Code::ClaimConflict, message))
    }

    pub fn expired(&self, claim: &Claim) -> Refusal {
        let message = format!(
            "the lease of {} on task {} expired at {}",
            claim.owner, self.task.task_id, claim.leased_until
        );
        let until = claim.leased_until.to_string();
        self.refusal(Code::LeaseExpired, message)
            .details(json!({"leased_until": until, "holder": claim.owner}))
            .hint("claim the task again if nobody else holds it")
    }

    /// Returns the refusal for an epoch of another agent's claim. The hint names `force` only if `force` would help the caller.
    pub fn not_holder(
        &self,
        claim: &Claim,
        field: &'static str,
        who: &str,
        may_force: bool,
    ) -> Refusal {
        let message = format!(
            "task {} is claimed by {}, not by {who:?}",
            self.task.task_id, claim.owner
        );
        let refusal = self.refusal(Code::NotHolder, message).field(field);
        refusal.hint(match may_force {
            true => "leave the task to its holder, or override the claim with force; the log records who overrides"
                .to_owned(),
            false => format!(
                "leave the task to {}, or ask the leader: only the leader may override the claim",
                claim.owner
            ),
        })
    }

    /// Returns the refusal for a session that did not make the claim of its agent. `maker` names the session that made it.
    pub fn other_session(&self, claim: &Claim, maker: &str) -> Refusal {
        let (id, until) = (&self.task.task_id, claim.leased_until);
        let message = format!("task {id} was claimed by {maker}, until {until}");
        let refusal = self.refusal(Code::NotHolder, message).field("worker");
        refusal.hint("if you made that claim, pass the --epoch that its answer gave")
    }

    fn not_yours(&self, proof: ClaimProof<'_>) -> Refusal {
        let field = match proof.token {
            Some(_) => "claim_token",
            None => "epoch",
        };
        let id = &self.task.task_id;
        let message = format!("wrong {field} for task {id}: use the {field} of its latest claim");
        self.refusal(Code::ClaimConflict, message).field(field)
    }

    /// Returns a refusal with the state of the task in its details. The details never contain the token.
    pub fn refusal(&self, code: Code, message: String) -> Refusal {
        let task = &self.task;
        let mut refusal = Refusal::new(code, message).details(json!({
            "task_id": task.task_id, "status": task.status.name(), "version": task.version, "epoch": task.governed.epoch,
        }));
        if let Some(owner) = &task.owner {
            refusal = refusal.detail("owner", owner.clone());
        }
        if let Some(claim) = task.claim() {
            refusal = refusal.detail("leased_until", claim.leased_until.to_string());
        }
        refusal
    }
}

pub(crate) fn check_expected(expected: Option<u64>) -> Result<(), Refusal> {
    if expected != Some(0) {
        return Ok(());
    }
    let message = "expected_version must be a positive integer, but is 0";
    Err(Refusal::new(Code::InvalidInput, message).field("expected_version"))
}

/// Records the expiry of a task's lease if the lease has expired. The task becomes pending without an owner. If the task now waits
/// for dependencies, the task becomes blocked.
pub(crate) fn expire(
    live: &Live,
    task: &mut Task,
    now: Timestamp,
    actor: &str,
    events: &mut Vec<NewEvent>,
) -> Result<()> {
    let over = live.leases_over_by(now);
    let Some(claim) = task.claim().filter(|claim| claim.leased_until <= over) else {
        return Ok(());
    };
    let lease = Lease {
        held: holder(task, claim),
        leased_until: claim.leased_until,
    };
    let expired = TaskAct::LeaseExpired(lease);
    events.push(event(task, expired, actor, Some(&claim.owner)));
    task.owner = None;
    task.status = Status::Pending;
    if let Some(claim) = &mut task.governed.claim {
        claim.state = ClaimState::Expired;
    }
    block(live, task, actor, events)
}

/// Returns an event about a task. The event has the task's trace.
pub(crate) fn event(task: &Task, act: TaskAct, actor: &str, agent: Option<&str>) -> NewEvent {
    TaskFact::new(&*task.task_id, act).event(actor, agent, task.trace_id.as_deref())
}

/// Returns the reference to a claim for the events that end or renew the claim.
pub(crate) fn holder(task: &Task, claim: &Claim) -> ClaimRef {
    ClaimRef {
        worker: claim.owner.clone(),
        epoch: task.governed.epoch,
        forced: false,
    }
}

/// Returns the refusal for an unknown task.
pub fn not_found(task_id: &str) -> Refusal {
    let message = format!("no task {task_id:?} in this team");
    Refusal::new(Code::TaskNotFound, message)
        .field("task_id")
        .detail("task_id", task_id)
}

/// Blocks a pending task that waits for dependencies. The cause of the event is the last event so far.
pub(crate) fn block(
    live: &Live,
    task: &mut Task,
    actor: &str,
    events: &mut Vec<NewEvent>,
) -> Result<()> {
    let open = live.open_deps(&task.deps)?;
    if task.status != Status::Pending || open.is_empty() {
        return Ok(());
    }
    let act = TaskAct::Blocked(TaskBlocked { waits_for: open });
    let cause = events.len().checked_sub(1);
    events.push(follows(task, act, actor, cause));
    task.status = Status::Blocked;
    Ok(())
}

/// Returns an event about a task. `cause` is the index of another event in the group.
pub(crate) fn follows(task: &Task, act: TaskAct, actor: &str, cause: Option<usize>) -> NewEvent {
    let mut event = event(task, act, actor, task.owner.as_deref());
    event.cause = cause.map(Cause::Earlier);
    event
}
