//! The fold of the commands on tasks. Validation happened in `decide`; the fold only applies the events.
//!
//! `version` counts commands. Events that follow from another event (a task becomes blocked or unblocked, a lease runs out) do
//! not raise it.

use super::fold::{store, unborn};
use super::row::task_key;
use super::{Attributes, Claim, ClaimState, Governed, PlanChange, Status, Task, deps, news, terms};
use crate::event::task::{
    ClaimRef, Lease, Resources, TaskAct, TaskAssigned, TaskClaimed, TaskCreated, TaskFact,
    TaskUpdated,
};
use crate::prelude::*;

/// Folds one event. Events of an unknown task, and a second creation, change nothing.
pub(super) fn apply(tx: &mut Tx<'_>, event: &Event<'_>, fact: &TaskFact) -> Result<()> {
    let id = fact.task_id.as_str();
    let old: Option<Task> = tx.get(&task_key(id))?;
    let mut new = match (&fact.act, &old) {
        (TaskAct::Created(created), None) => self::created(tx, event, id, created)?,
        (TaskAct::Created(_), Some(_)) | (_, None) => return Ok(()),
        (_, Some(old)) => old.clone(),
    };
    let at = event.created_at;
    match &fact.act {
        TaskAct::Created(_) | TaskAct::Imported(_) => {}
        TaskAct::Updated(updated) => update(&mut new, updated),
        TaskAct::Assigned(assigned) => assign(&mut new, assigned, &event.actor),
        TaskAct::DepsChanged(wanted) => {
            (new.deps, new.ignored_deps) = deps::split(tx, id, &wanted.depends_on)?;
        }
        TaskAct::ResourcesDeclared(declared) => declare(&mut new, declared),
        TaskAct::Blocked(_) => turn(&mut new, Status::Pending, Status::Blocked),
        TaskAct::Unblocked => turn(&mut new, Status::Blocked, Status::Pending),
        TaskAct::Claimed(claimed) => claim(&mut new, claimed, at),
        TaskAct::Renewed(lease) => renew(&mut new, lease, at),
        TaskAct::Completed(done) => {
            end(&mut new, &done.held, Status::Completed, at);
            governed(&mut new).result.clone_from(&done.result);
        }
        TaskAct::Failed(failed) => {
            end(&mut new, &failed.held, Status::Failed, at);
            governed(&mut new).error.clone_from(&failed.error);
        }
        TaskAct::Released(held) => requeue(&mut new, held, ClaimState::Ended),
        TaskAct::LeaseExpired(lease) => requeue(&mut new, &lease.held, ClaimState::Expired),
        TaskAct::Canceled(_) => cancel(&mut new, at),
        TaskAct::Reopened => reopen(&mut new),
    }
    if old.as_ref().is_none_or(|old| old.status != new.status) {
        new.reported.unapplied = None;
    }
    new.version += u64::from(counts(&fact.act));
    if new.trace_id.is_none() {
        new.trace_id = event.refs.get(RefKind::Trace).map(str::to_owned);
    }
    new.updated_at = at;
    new.seq = event.seq;
    news::of_command(tx, event, fact);
    news::of_change(tx, (id, event.seq), &event.actor, old.as_ref(), &new);
    if old.is_none() {
        terms::creator(tx, &event.actor, event.seq);
    }
    store(tx, id, old.as_ref(), &new)
}

/// Returns true if the act is a command; false if the act follows from another event.
fn counts(act: &TaskAct) -> bool {
    !matches!(
        act,
        TaskAct::DepsChanged(_)
            | TaskAct::ResourcesDeclared(_)
            | TaskAct::Blocked(_)
            | TaskAct::Unblocked
            | TaskAct::LeaseExpired(_)
    )
}

fn created(tx: &Tx<'_>, event: &Event<'_>, id: &str, created: &TaskCreated) -> Result<Task> {
    let mut task = unborn(event.created_at);
    task.claim_governed = true;
    if created.blocked {
        task.status = Status::Blocked;
    }
    task.owner.clone_from(&created.owner);
    task.subject = Some(created.subject.clone());
    task.details = Some(created.description.clone());
    task.priority = created.priority;
    (task.deps, task.ignored_deps) = deps::split(tx, id, &created.depends_on)?;
    if created.extra.is_some() || created.attributes != Attributes::default() {
        let governed = governed(&mut task);
        governed.attributes.clone_from(&created.attributes);
        governed.extra.clone_from(&created.extra);
    }
    if created.plan != PlanChange::default() {
        governed(&mut task).plan.change(&created.plan);
    }
    if created.resources != Resources::default() {
        declare(&mut task, &created.resources);
    }
    Ok(task)
}

fn governed(task: &mut Task) -> &mut Governed {
    task.governed.known = true;
    &mut task.governed
}

fn update(task: &mut Task, updated: &TaskUpdated) {
    if updated.subject.is_some() {
        task.subject.clone_from(&updated.subject);
    }
    if updated.description.is_some() {
        task.details.clone_from(&updated.description);
    }
    if updated.attributes != Attributes::default() {
        governed(task).attributes.change(&updated.attributes);
    }
    if updated.plan != PlanChange::default() {
        governed(task).plan.change(&updated.plan);
    }
    task.priority = updated.priority.unwrap_or(task.priority);
}

/// Gives a task to an agent, or offers it to any agent. If the event names a claim, ends that claim.
fn assign(task: &mut Task, assigned: &TaskAssigned, by: &str) {
    if let Some(held) = &assigned.taken_from {
        requeue(task, held, ClaimState::Ended);
    }
    task.claim_governed = true;
    if matches!(task.status, Status::Assigned | Status::InProgress) {
        task.status = Status::Pending;
    }
    if let Some(epoch) = assigned.epoch {
        let governed = governed(task);
        governed.epoch = governed.epoch.max(epoch);
    }
    task.owner.clone_from(&assigned.owner);
    task.assigned_by = assigned.owner.as_ref().map(|_| by.to_owned());
}

fn declare(task: &mut Task, declared: &Resources) {
    let governed = governed(task);
    governed.resources.clone_from(&declared.resources);
    governed.shared = declared.shared;
}

fn turn(task: &mut Task, from: Status, to: Status) {
    if task.status == from {
        task.status = to;
    }
}

/// Applies a claim. From its first claim on, only commands move a task.
fn claim(task: &mut Task, claimed: &TaskClaimed, at: Timestamp) {
    task.claim_governed = true;
    task.status = Status::InProgress;
    task.owner = Some(claimed.worker.clone());
    task.blocked = false;
    task.reported.blocked = false;
    let governed = governed(task);
    governed.epoch = claimed.epoch;
    governed.started_at = Some(at);
    governed.claim = Some(Claim {
        owner: claimed.worker.clone(),
        token: claimed.token.clone(),
        leased_until: claimed.leased_until,
        state: ClaimState::Live,
        leased_at: at,
        session: claimed.session.clone(),
    });
}

fn renew(task: &mut Task, lease: &Lease, at: Timestamp) {
    if let Some(claim) = held(task, &lease.held) {
        claim.leased_until = lease.leased_until;
        claim.leased_at = at;
    }
}

/// Returns the last claim of the task, if `held` names its epoch.
fn held<'a>(task: &'a mut Task, held: &ClaimRef) -> Option<&'a mut Claim> {
    let last = task.governed.epoch == held.epoch;
    task.governed.claim.as_mut().filter(|_| last)
}

fn end_claim(task: &mut Task, state: ClaimState) {
    let claim = task.governed.claim.as_mut();
    if let Some(claim) = claim.filter(|claim| claim.state == ClaimState::Live) {
        claim.state = state;
    }
}

fn end(task: &mut Task, held: &ClaimRef, status: Status, at: Timestamp) {
    end_claim(task, ClaimState::Ended);
    task.status = status;
    task.owner = Some(held.worker.clone());
    governed(task).completed_at = Some(at);
}

/// Makes the task pending, without an owner.
fn requeue(task: &mut Task, held: &ClaimRef, state: ClaimState) {
    if self::held(task, held).is_some() {
        end_claim(task, state);
        task.status = Status::Pending;
        task.owner = None;
    }
}

/// Cancels the task. A command that ends a task makes the task claim-governed, so no message reopens it.
fn cancel(task: &mut Task, at: Timestamp) {
    end_claim(task, ClaimState::Ended);
    task.claim_governed = true;
    task.status = Status::Canceled;
    task.blocked = false;
    governed(task).completed_at = Some(at);
}

fn reopen(task: &mut Task) {
    task.claim_governed = true;
    task.status = Status::Pending;
    task.owner = None;
    task.blocked = false;
    let governed = governed(task);
    governed.result = None;
    governed.error = None;
    governed.completed_at = None;
}
