//! `write-task-approval`, `read-task-approval`: a reviewer's decision on a task. The task need not exist. This module also
//! refuses to complete a task without an approval that the task requires.

use crate::claim::holding::TaskDecision;
use crate::operation::prelude::*;
use crate::projections::message::Unapplied;
use crate::projections::worker::ApprovalShown;
use crate::projections::worker::supervision::{Approval, ApprovalStatus};

operation! {
    /// Read a reviewer's last decision on a task
    "read-task-approval": Reads(ReadApproval {
        /// Id of the task
        task_id: String,
    }) -> ApprovalAnswer = Team::read_approval,
    empty = |_, _| ApprovalAnswer::default()
}

operation! {
    /// Record a reviewer's decision on a task
    "write-task-approval": Records(WriteApproval {
        /// Id of the task
        task_id: String,
        /// Decision of the reviewer
        #[schemars(with = "ApprovalStatus")]
        status: String,
        /// Name of the reviewer
        reviewer: String,
        /// Reason of the decision
        decision_reason: String,
        /// True if the task requires an approval
        #[serde(default = "yes")]
        required: bool,
    }) -> ApprovalWritten as write_approval,
    refuses = [AlreadyTerminal, SelfApproval, WorkerNotFound]
}

fn yes() -> bool {
    true
}

/// The answer `{task_id, status, note?}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalWritten {
    /// The task
    pub task_id: String,
    /// The decision
    pub status: ApprovalStatus,
    /// Reason why the decision does not count, if the task requires an approval and no agent holds it
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The answer `{approval}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalAnswer {
    /// The last decision; `null` if there is none
    pub approval: Option<ApprovalShown>,
}

impl Team {
    /// Returns the last decision on a task.
    pub fn read_approval(&mut self, read: ReadApproval) -> Result<ApprovalAnswer> {
        names::check_known("task_id", &read.task_id)?;
        self.query(|live, _| {
            Ok(ApprovalAnswer {
                approval: live.approval(&read.task_id)?.map(Into::into),
            })
        })
    }
}

impl WriteApproval {
    fn approval(&self) -> Result<Approval, Refusal> {
        names::check_known("task_id", &self.task_id)?;
        let (from_name, rule) = (ApprovalStatus::from_name, ApprovalStatus::rule);
        let status = names::word("status", &self.status, from_name, rule)?;
        let reviewer = names::filled("reviewer", &self.reviewer)?;
        names::check_free("reviewer", reviewer)?;
        Ok(Approval {
            task_id: self.task_id.clone(),
            required: self.required,
            status,
            reviewer: reviewer.to_owned(),
            decision_reason: names::filled("decision_reason", &self.decision_reason)?.to_owned(),
        })
    }
}

impl Command for WriteApproval {
    type Decided = ApprovalStatus;
    type Answer = ApprovalWritten;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone).members_only()
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<ApprovalStatus>> {
        let approval = self.approval()?;
        membership::check(live, "reviewer", &approval.reviewer)?;
        check_reviewer(ctx, live, &approval)?;
        let trace = page::trace_of_task(live, Some(&self.task_id))?;
        let event = approval.event(trace.as_deref());
        Ok(Decision::Granted(approval.status, vec![event]))
    }

    fn answer(&self, status: &ApprovalStatus, after: &After<'_>) -> Result<ApprovalWritten> {
        let task = after.live.task(&self.task_id)?;
        let is_early = |task: &Task| task.requires_approval() && task.claim().is_none();
        let is_early = *status == ApprovalStatus::Approved && task.as_ref().is_some_and(is_early);
        let id = &self.task_id;
        Ok(ApprovalWritten {
            task_id: self.task_id.clone(),
            status: *status,
            note: is_early.then(|| {
                format!("no agent holds task {id}: an approval counts only for the claim during which it is given")
            }),
        })
    }
}

/// Refuses a decision on a task that requires an approval if the task has ended, or if its holder approves its own work.
fn check_reviewer(ctx: &Ctx, live: &Live, approval: &Approval) -> Result<()> {
    let Some(task) = live.task(&approval.task_id)? else {
        return Ok(());
    };
    if !task.requires_approval() {
        return Ok(());
    }
    let decision = TaskDecision::from_task(live, task, ctx.now)?;
    decision.check_open()?;
    let holder = decision.task.claim().map(|claim| &*claim.owner);
    let holder = holder.or(decision.task.owner.as_deref());
    let actor = ctx.control.caller().name;
    let is_own = |holder| holder == approval.reviewer || Some(holder) == actor;
    match holder.filter(|holder| is_own(*holder)) {
        Some(holder) if approval.status == ApprovalStatus::Approved => {
            let id = &approval.task_id;
            let message = format!("{holder} works on task {id} and cannot approve it");
            let refusal = decision.refusal(Code::SelfApproval, message);
            Err(refusal
                .field("reviewer")
                .hint("ask another agent to review the task")
                .into())
        }
        _ => Ok(()),
    }
}

/// Refuses to remove the requirement of an approval from a task, unless the leader or a caller without an agent's name edits the
/// task.
pub(crate) fn check_gate(
    ctx: &Ctx,
    live: &Live,
    decision: &TaskDecision,
    (named, wanted): (Option<&str>, Option<bool>),
) -> Result<()> {
    let by = ctx.control.caller();
    let ends = decision.task.requires_approval() && wanted == Some(false);
    if !ends || by.leads(live, named)? {
        return Ok(());
    }
    let who = by.name.or(named).unwrap_or_default();
    let message = format!(
        "{who} cannot end the approval that task {} requires: only the leader can",
        decision.task.task_id
    );
    let refusal = decision.refusal(Code::ApprovalRequired, message);
    Err(refusal.field("requires_approval").into())
}

/// Returns the last decision on a task.
pub fn last(live: &Live, task_id: &str) -> Result<Option<ApprovalShown>> {
    Ok(live.approval(task_id)?.map(Into::into))
}

/// Returns the last decisions on the given tasks, by task id. If the team has no decisions, reads no task.
pub(crate) fn of_all(live: &Live, tasks: &[Task]) -> Result<BTreeMap<String, ApprovalShown>> {
    let mut found = BTreeMap::new();
    if !live.has_approvals()? {
        return Ok(found);
    }
    for task in tasks {
        if let Some(approval) = last(live, &task.task_id)? {
            found.insert(task.task_id.clone(), approval);
        }
    }
    Ok(found)
}

/// Returns true if a task requires an approval that its last decision does not give. An approval by the present holder of the
/// task does not count, and neither does an approval from before the last claim, which was for other work.
pub(crate) fn is_missing(live: &Live, task: &Task) -> Result<bool> {
    if !task.requires_approval() {
        return Ok(false);
    }
    let holder = task.claim().map(|claim| &*claim.owner);
    let counts = |approval: &Approval| {
        approval.status == ApprovalStatus::Approved && holder != Some(&*approval.reviewer)
    };
    let last = live.approval(&task.task_id)?;
    Ok(last.is_none_or(|last| !counts(&last.what) || is_of_earlier_claim(task, last.at)))
}

/// Returns true if a decision was recorded before the last claim of the task.
fn is_of_earlier_claim(task: &Task, decided_at: Timestamp) -> bool {
    let claimed_at = task.governed.started_at;
    claimed_at.is_some_and(|claimed_at| decided_at < claimed_at)
}

/// Refuses to complete a task without the approval that it requires.
pub(crate) fn check(live: &Live, task: &Task) -> Result<()> {
    if !is_missing(live, task)? {
        return Ok(());
    }
    let id = &task.task_id;
    let noted = live.approval(id)?;
    let is_earlier = noted
        .as_ref()
        .is_some_and(|noted| is_of_earlier_claim(task, noted.at));
    let decided: Option<ApprovalShown> = noted.map(Into::into);
    let earlier = match is_earlier {
        true => " (before the present claim, for which it does not count)",
        false => "",
    };
    let state = decided.as_ref().map_or_else(
        || "there is no decision yet".to_owned(),
        |decided| format!("the last decision is {}{earlier}", words(decided)),
    );
    let message = format!("task {id} requires an approval before it can be completed: {state}");
    let mut refusal = Refusal::new(Code::ApprovalRequired, message)
        .detail("task_id", id.as_str())
        .hint("ask another agent to approve the task; the claim stays yours until its lease ends");
    if let Some(decided) = decided {
        refusal = refusal.detail("approval", json!(decided));
    }
    Err(refusal.into())
}

/// Returns the status that a message must not apply, if the message would complete a task without its required approval or with
/// open parts.
pub(crate) fn withheld(live: &Live, message: &Message) -> Result<Option<Unapplied>> {
    let Some(id) = &message.task_id else {
        return Ok(None);
    };
    if message.reported_status() != Some(Status::Completed) {
        return Ok(None);
    }
    let Some(task) = live.task(id)? else {
        return Ok(None);
    };
    let completes = !task.claim_governed && task.status != Status::Completed;
    if completes && is_missing(live, &task)? {
        return Ok(Some(Unapplied::unapproved(id)));
    }
    let has_parts = completes && task.governed.plan.children.open > 0;
    Ok(has_parts.then(|| Unapplied::with_open_parts(id)))
}

/// Returns the decision as one line, such as `rejected by lead: the tests are missing`.
pub fn words(approval: &ApprovalShown) -> String {
    format!(
        "{} by {}: {}",
        approval.status.name(),
        approval.reviewer,
        approval.decision_reason
    )
}
