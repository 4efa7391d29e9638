//! `write-task-approval`, `read-task-approval`: what a reviewer decided on a task, which need not exist.

use crate::prelude::*;
use crate::projections::worker::ApprovalShown;
use crate::projections::worker::supervision::{Approval, ApprovalStatus};

operation! {
    /// Read what a reviewer last decided on a task
    "read-task-approval": Reads(ReadApproval {
        /// The task
        task_id: String,
    }) -> ApprovalAnswer = Team::read_approval,
    empty = |_, _| ApprovalAnswer::default()
}

operation! {
    /// Record what a reviewer decided on a task
    "write-task-approval": Records(WriteApproval {
        /// The task
        task_id: String,
        /// The decision
        #[schemars(with = "ApprovalStatus")]
        status: String,
        /// Who decided
        reviewer: String,
        /// Why
        decision_reason: String,
        /// Whether the task needs it
        #[serde(default = "yes")]
        required: bool,
    }) -> ApprovalWritten as write_approval
}

fn yes() -> bool {
    true
}

/// `{task_id, status}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalWritten {
    /// The task
    pub task_id: String,
    /// The decision
    pub status: ApprovalStatus,
}

/// `{approval}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ApprovalAnswer {
    /// The last decision; `null` where there is none
    pub approval: Option<ApprovalShown>,
}

impl Team {
    /// The last decision on a task.
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
        CommandTerms::of(Authority::Anyone)
    }

    fn decide(&self, live: &Live, _: Timestamp) -> Result<Decision<ApprovalStatus>> {
        let approval = self.approval()?;
        let trace = page::trace_of_task(live, Some(&self.task_id))?;
        let event = approval.event(trace.as_deref());
        Ok(Decision::Granted(approval.status, vec![event]))
    }

    fn answer(&self, status: &ApprovalStatus, _: &After<'_>) -> Result<ApprovalWritten> {
        Ok(ApprovalWritten {
            task_id: self.task_id.clone(),
            status: *status,
        })
    }
}
