//! `claim-next-task`: claims the best ready task for a worker.

use crate::resource::{Overlap, PathLocks};
use crate::task::claim::{check_worker, claimed, take, token};
use crate::task::listed::{self, rank};
use crate::task::prelude::*;
use std::cmp::Reverse;

operation! {
    /// Take the best task that is ready for a worker
    "claim-next-task": Records(ClaimNext {
        /// Agent that takes the task
        #[arg(long, value_name = "AGENT")]
        worker: String,
        /// Length of the lease in milliseconds; 900000 (15 minutes) if absent
        #[schemars(range(min = 1_000, max = 86_400_000))]
        #[arg(long, value_name = "MILLISECONDS", value_parser = crate::argv::whole::<u64>)]
        lease_ms: Option<u64>,
        /// Only a task with this label
        #[arg(long, value_name = "LABEL")]
        label: Option<String>,
        /// Only a part of this task
        #[arg(long, value_name = "TASK")]
        parent: Option<String>,
    }) -> ClaimNextAnswer as claim_next,
    refuses = [WorkerNotFound, ClaimConflict, LeaseExpired, BudgetExceeded]
}

/// Number of tasks that are read together in the search for a task with free paths.
const LOOKED_AT: usize = 16;
/// Maximum number of tasks in the search. If other agents hold paths of all of these tasks, the answer has no task.
const LOOKED_AT_MAX: usize = 256;
/// Maximum number of expired leases that this command handles; `tick` handles further expired leases.
const EXPIRED_MAX: usize = 64;

/// The answer `{ok, task, claimToken?, epoch?, leased_until?, overlaps?}`; `task` is `null` if no task is ready for the worker.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimNextAnswer {
    /// Always true
    pub ok: bool,
    /// The task; `null` if no task is ready for the worker
    pub task: Option<TaskRecord>,
    /// Token to present to renew, complete, fail or release the claim
    #[serde(
        rename = "claimToken",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub claim_token: Option<String>,
    /// Fencing epoch of the claim: its number among the claims of the task. The holder can present the epoch instead of the token
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u64>,
    /// End of the lease
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leased_until: Option<Timestamp>,
    /// Paths of the task that other agents hold as well, if the team allows overlaps
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overlaps: Vec<Overlap>,
}

/// The task that the command claimed.
pub(crate) struct Taken {
    task_id: String,
    token: String,
    /// Paths of the task that other agents hold as well.
    overlaps: Vec<Overlap>,
}

/// Claims the most urgent task that is ready for the worker and has free paths. Among equally urgent tasks the oldest
/// comes first, then the lowest id.
impl Command for ClaimNext {
    type Decided = Option<Taken>;
    type Answer = ClaimNextAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Agent(&self.worker)).grants()
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<Self::Decided>> {
        let worker = &self.worker;
        check_worker(live, worker)?;
        budget::check(live, Some(worker))?;
        let until = lease_end(self.lease_ms, ctx.now)?;
        let mut events: Vec<NewEvent> = Vec::new();
        let locks = PathLocks::new(live, worker, ctx.now);
        let wanted = listed::wanted(self.label.as_ref(), self.parent.as_ref())?;
        let ready = first_free(live, worker, &wanted, &locks, ctx.now)?;
        let mut best = ready.map(|(task, overlaps)| (task, overlaps, None));
        for mut task in live.expired_tasks(ctx.now, EXPIRED_MAX)? {
            let overdue = Some(events.len());
            holding::expire(live, &mut task, ctx.now, DEFAULT_ACTOR, &mut events)?;
            let better = |(best, ..): &(Task, _, _)| rank(&task) < rank(best);
            if task.status == Status::Pending
                && !task.is_held_back(ctx.now)
                && wanted.passes(&task)
                && best.as_ref().is_none_or(better)
                && let Some(overlaps) = free(&locks, &task)?
            {
                best = Some((task, overlaps, overdue));
            }
        }
        let Some((task, overlaps, overdue)) = best else {
            return Ok(Decision::Granted(None, events));
        };
        let taken = Taken {
            task_id: task.task_id.clone(),
            token: token(&*ctx.ids)?,
            overlaps,
        };
        let mut decision = TaskDecision { task, events };
        take(
            live,
            ctx,
            &mut decision,
            worker,
            (&taken.token, until),
            overdue,
        )?;
        Ok(Decision::Granted(Some(taken), decision.events))
    }

    fn answer(&self, taken: &Self::Decided, after: &After<'_>) -> Result<ClaimNextAnswer> {
        let Some(taken) = taken else {
            return Ok(ClaimNextAnswer {
                ok: true,
                ..ClaimNextAnswer::default()
            });
        };
        let claimed = claimed(
            record(after.live, &taken.task_id, after.ctx.now)?,
            taken.token.clone(),
        );
        Ok(ClaimNextAnswer {
            ok: true,
            task: Some(claimed.task),
            claim_token: Some(claimed.claim_token),
            epoch: Some(claimed.epoch),
            leased_until: Some(claimed.leased_until),
            overlaps: taken.overlaps.clone(),
        })
    }
}

/// Returns the best ready task with free paths. Also returns those paths of the task that other
/// agents hold as well.
fn first_free(
    live: &Live,
    worker: &str,
    wanted: &TaskFilter,
    locks: &PathLocks<'_>,
    now: Timestamp,
) -> Result<Option<(Task, Vec<Overlap>)>> {
    let mut undeferred = live.undeferred_tasks(Some(worker), now)?;
    undeferred.sort_by_cached_key(|task| Reverse(rank(task)));
    let mut last: Option<Task> = None;
    let mut looked_at = 0;
    loop {
        let page = live.ready_tasks(Some(worker), last.as_ref(), LOOKED_AT)?;
        last = page.tasks.last().filter(|_| page.more).cloned();
        for task in page.tasks {
            while let Some(next) = undeferred.pop_if(|next| rank(next) < rank(&task)) {
                if let Some(found) = suitable(wanted, locks, next)? {
                    return Ok(Some(found));
                }
            }
            looked_at += usize::from(wanted.passes(&task));
            if let Some(found) = suitable(wanted, locks, task)? {
                return Ok(Some(found));
            }
        }
        if last.is_none() {
            break;
        }
        if looked_at >= LOOKED_AT_MAX {
            return Ok(None);
        }
    }
    while let Some(next) = undeferred.pop() {
        if let Some(found) = suitable(wanted, locks, next)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Returns a wanted task, with the paths that two agents will hold after the claim; `None` if other
/// agents block the task.
fn suitable(
    wanted: &TaskFilter,
    locks: &PathLocks<'_>,
    task: Task,
) -> Result<Option<(Task, Vec<Overlap>)>> {
    if !wanted.passes(&task) {
        return Ok(None);
    }
    Ok(free(locks, &task)?.map(|overlaps| (task, overlaps)))
}

/// Returns the paths of the task that other agents hold as well; `None` if these agents block the claim.
fn free(locks: &PathLocks<'_>, task: &Task) -> Result<Option<Vec<Overlap>>> {
    let taken = |failure: &Failure| {
        let refusal = failure.refusal();
        refusal.is_some_and(|refusal| refusal.code == Code::ResourceConflict)
    };
    match locks.grant(task) {
        Err(failure) if taken(&failure) => Ok(None),
        granted => granted.map(Some),
    }
}
