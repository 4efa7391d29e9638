//! `claim-task`: a worker claims a task for the time of a lease.

use crate::projections::task::event::TaskClaimed;
use crate::resource::{Overlap, PathLocks};
use crate::task::prelude::*;
use crate::uuid;
use teamlog_engine::IdSource;

operation! {
    /// Take a task, for a time
    "claim-task": Records(TaskClaim {
        /// Id of the task
        #[arg(value_name = "TASK")]
        task_id: String,
        /// Agent that takes the task
        #[arg(long, value_name = "AGENT")]
        worker: String,
        /// Version that the task must have
        #[schemars(range(min = 1))]
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<u64>)]
        expected_version: Option<u64>,
        /// Length of the lease in milliseconds; 900000 (15 minutes) if absent
        #[schemars(range(min = 1_000, max = 86_400_000))]
        #[arg(long, value_name = "MILLISECONDS", value_parser = crate::argv::whole::<u64>)]
        lease_ms: Option<u64>,
    }) -> ClaimAnswer as task_claim,
    refuses = [
        TaskNotFound, WorkerNotFound, AlreadyTerminal, ClaimConflict, LeaseExpired, BlockedDependency,
        ResourceConflict, BudgetExceeded,
    ]
}

/// The answer `{ok, task, claimToken, epoch, leased_until, overlaps?}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimAnswer {
    /// Always true
    pub ok: bool,
    /// The task
    pub task: TaskRecord,
    /// Token to present to renew, complete, fail or release the claim
    #[serde(rename = "claimToken")]
    pub claim_token: String,
    /// Fencing epoch of the claim: its number among the claims of the task. The holder can present the epoch instead of the token
    pub epoch: u64,
    /// End of the lease
    pub leased_until: Timestamp,
    /// Paths of the task that other agents hold as well, if the team allows overlaps
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overlaps: Vec<Overlap>,
}

impl Command for TaskClaim {
    /// The token of the claim, and the paths of the task that other agents hold as well.
    type Decided = (String, Vec<Overlap>);
    type Answer = ClaimAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Agent(&self.worker)).grants()
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<Self::Decided>> {
        let until = lease_end(self.lease_ms, ctx.now)?;
        holding::check_expected(self.expected_version)?;
        check_worker(live, &self.worker)?;
        budget::check(live, Some(&self.worker))?;
        let decision = TaskDecision::load(live, &self.task_id, ctx.now)?;
        decision.decision(|decision| {
            check_ready(live, decision)?;
            decision.expect(self.expected_version, Code::ClaimConflict)?;
            check_free(decision, &self.worker, ctx)?;
            let overlaps = PathLocks::new(live, &self.worker, ctx.now).grant(&decision.task)?;
            // If the previous claim's lease has expired, the expiry event is the cause of the new claim.
            let overdue = (!decision.events.is_empty()).then_some(0);
            let token = token(&*ctx.ids)?;
            take(live, ctx, decision, &self.worker, (&token, until), overdue)?;
            Ok((token, overlaps))
        })
    }

    fn answer(&self, (token, overlaps): &Self::Decided, after: &After<'_>) -> Result<ClaimAnswer> {
        let task = record(after.live, &self.task_id, after.ctx.now)?;
        Ok(ClaimAnswer {
            overlaps: overlaps.clone(),
            ..claimed(task, token.clone())
        })
    }
}

pub(crate) fn claimed(task: TaskRecord, claim_token: String) -> ClaimAnswer {
    let leased_until = task.claim().map(|claim| claim.leased_until);
    ClaimAnswer {
        ok: true,
        epoch: task.governed.epoch,
        claim_token,
        leased_until: leased_until.unwrap_or_default(),
        task,
        overlaps: Vec::new(),
    }
}

/// Returns a new claim token.
pub(crate) fn token(ids: &dyn IdSource) -> Result<String> {
    Ok(uuid::new(ids)?)
}

/// Checks that an agent may claim tasks. Refuses the fixed leader.
pub(crate) fn check_worker(live: &Live, worker: &str) -> Result<()> {
    if worker == LEADER {
        let message = format!("worker must not be the leader, but is {LEADER:?}");
        let refusal = Refusal::new(Code::WorkerNotFound, message).field("worker");
        return Err(refusal.detail("worker", worker).into());
    }
    membership::check(live, "worker", worker)
}

fn check_ready(live: &Live, decision: &TaskDecision) -> Result<()> {
    let open = live.open_deps(&decision.task.deps)?;
    if open.is_empty() {
        return Ok(());
    }
    let unmet = live.unmet_deps(&decision.task.deps)?;
    let (lost, unknown) = (unmet.failed, unmet.unknown);
    let (id, names) = (&decision.task.task_id, open.join(", "));
    let message = format!("task {id} waits for tasks that are not completed: {names}");
    let refusal = decision.refusal(Code::BlockedDependency, message);
    let mut refusal = refusal.detail("dependencies", open);
    if !lost.is_empty() {
        let names = lost.join(", ");
        refusal.message += &format!("; failed or canceled: {names}");
        refusal = refusal.detail("failed_dependencies", lost);
    }
    if !unknown.is_empty() {
        let names = unknown.join(", ");
        refusal.message += &format!("; no such task: {names}");
        refusal = refusal.detail("unknown_dependencies", unknown);
    }
    Err(refusal.into())
}

fn check_free(decision: &TaskDecision, worker: &str, ctx: &Ctx) -> Result<(), Refusal> {
    decision.check_open()?;
    let task = &decision.task;
    let owner = task.owner.as_deref();
    let conflict = |message: String| Err(decision.refusal(Code::ClaimConflict, message));
    if let Some(claim) = task.claim().filter(|claim| claim.owner == worker) {
        if claim.is_of_other_session(ctx.control.origin.claim_session.as_deref()) {
            return conflict(format!(
                "task {} is claimed by another session of {worker}, until {}",
                task.task_id, claim.leased_until
            ));
        }
        let message = format!(
            "task {} is already claimed by {worker}, with epoch {}, until {}",
            task.task_id, task.governed.epoch, claim.leased_until
        );
        let refusal = decision.refusal(Code::ClaimConflict, message);
        let refusal = refusal.detail("yours", true);
        return Err(refusal.hint(format!(
            "pass epoch {} to renew, complete, fail or release the task",
            task.governed.epoch
        )));
    }
    if task.status == Status::InProgress {
        let claim = task.claim();
        let until = claim.map(|claim| format!(" until {}", claim.leased_until));
        let (id, until) = (&task.task_id, until.unwrap_or_default());
        let owner = owner.unwrap_or("another worker");
        let message = format!("task {id} is not free: {owner} works on it{until}");
        return conflict(message);
    }
    // Claim-governed tasks, and tasks that have started, are reserved for their owners. Any agent may claim a pending
    // message-governed task.
    let own = task.claim_governed || task.status != Status::Pending;
    match owner.filter(|owner| own && *owner != worker) {
        Some(owner) => conflict(format!(
            "worker must be {owner}, to whom task {} is assigned, but is {worker:?}",
            task.task_id
        )),
        None => Ok(()),
    }
}

/// Adds the event of the claim, with its token and the end of its lease. In an open team the worker becomes a member.
pub(crate) fn take(
    live: &Live,
    ctx: &Ctx,
    decision: &mut TaskDecision,
    worker: &str,
    (token, leased_until): (&str, Timestamp),
    cause: Option<usize>,
) -> Result<()> {
    decision.events.extend(membership::joining(live, worker)?);
    let lease = Lease {
        held: ClaimRef {
            worker: worker.to_owned(),
            epoch: live.next_epoch(decision.task.governed.epoch)?,
            forced: false,
        },
        leased_until,
    };
    let token = token.to_owned();
    let claimed = TaskClaimed::new(lease, token);
    let claimed = TaskAct::Claimed(claimed.in_session(ctx.control.origin.claim_session.clone()));
    let mut event = holding::event(&decision.task, claimed, worker, Some(worker));
    event.cause = cause.map(Cause::Earlier);
    decision.events.push(event);
    Ok(())
}
