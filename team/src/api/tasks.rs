//! Operations on tasks.

use super::operation::Op;
use super::rules::Rules;
use crate::failure::{Failure, Result};
use crate::handle::team::Team;
use crate::projections::Status;
use crate::refusal::{Code, Refusal};
use crate::resource::can_write::{CanWrite, WriteVerdict};
use crate::task::cancel::TaskCancel;
use crate::task::change::TaskChange;
use crate::task::claim::{ClaimAnswer, TaskClaim};
use crate::task::claim_next::{ClaimNext, ClaimNextAnswer};
use crate::task::create::{TaskAnswer, TaskCreate};
use crate::task::finish::{HolderAnswer, TaskFinish};
use crate::task::list::Tasks;
use crate::task::record::{RESERVED, TaskRecord};
use crate::task::release::TaskRelease;
use crate::task::renew::{RenewAnswer, TaskRenew};
use crate::task::reopen::TaskReopen;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an update leaves to the other operations.
const LIFECYCLE: [&str; 13] = [
    "status",
    "owner",
    "result",
    "error",
    "version",
    "claim",
    "claim_token",
    "lease_ms",
    "leased_until",
    "epoch",
    "created_at",
    "started_at",
    "completed_at",
];

/// An operation whose input is that of a command.
macro_rules! mutation {
    ($input:ty, $data:ty, $name:literal, $command:ident, $doc:literal $(, $lifecycle:expr)?) => {
        impl Op for $input {
            type Data = $data;
            const NAME: &'static str = $name;
            const DOC: &'static str = $doc;
            const MUTATES: bool = true;
            $(const RULES: Rules = Rules {
                lifecycle: $lifecycle,
                ..Rules::COMMON
            };)?

            fn run(self, team: &mut Team) -> Result<$data> {
                team.$command(self)
            }
        }
    };
}

mutation! { TaskCreate, TaskAnswer, "create-task", task_create, "Make a task", &RESERVED }
mutation! { TaskChange, TaskAnswer, "update-task", task_change, "Change what a task is about, or what it waits for", &LIFECYCLE }
mutation! { TaskClaim, ClaimAnswer, "claim-task", task_claim, "Take a task, for a time" }
mutation! { ClaimNext, ClaimNextAnswer, "claim-next-task", claim_next, "Take the best task that is ready for a worker" }
mutation! { TaskFinish, HolderAnswer, "transition-task-status", task_finish, "Complete a claimed task, or fail it" }
mutation! { TaskRenew, RenewAnswer, "renew-task-claim", task_renew, "Prolong the lease of a claim" }
mutation! { TaskRelease, HolderAnswer, "release-task-claim", task_release, "Give a claimed task back; that is no completion" }
mutation! { TaskCancel, TaskAnswer, "cancel-task", task_cancel, "Cancel a task" }
mutation! { TaskReopen, TaskAnswer, "reopen-task", task_reopen, "Make a failed task pending again" }

impl Op for CanWrite {
    type Data = WriteVerdict;
    const NAME: &'static str = "can-write";
    const DOC: &'static str = "Say whether an agent may write a path now";
    const MUTATES: bool = false;

    fn run(self, team: &mut Team) -> Result<WriteVerdict> {
        team.can_write(self)
    }
}

/// `read-task`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadTask {
    /// The task's id
    task_id: String,
}

/// `{task}`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TaskData {
    /// The task
    task: TaskRecord,
}

impl Op for ReadTask {
    type Data = TaskData;
    const NAME: &'static str = "read-task";
    const DOC: &'static str = "Read one task";
    const MUTATES: bool = false;

    fn run(self, team: &mut Team) -> Result<TaskData> {
        let task = team.task_record(&self.task_id)?;
        Ok(TaskData { task })
    }

    fn without_team(&self, missing: Refusal) -> Result<TaskData> {
        Err(Failure::Refused(Refusal {
            code: Code::TaskNotFound,
            ..missing
        }))
    }
}

/// `list-tasks`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListTasks {
    /// Only those of that status
    #[schemars(with = "Option<Status>")]
    #[serde(default)]
    status: Option<String>,
    /// Only those of that owner
    #[serde(default)]
    owner: Option<String>,
    /// Most tasks on the page; else all
    #[serde(default)]
    limit: Option<usize>,
    /// The last id of the page before
    #[serde(default)]
    cursor: Option<String>,
}

/// `{count, tasks, next_cursor?}`.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct TasksData {
    /// Tasks on the page
    count: usize,
    /// The page, in natural order of ids
    tasks: Vec<TaskRecord>,
    /// The last id of the page while more remain
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl Op for ListTasks {
    type Data = TasksData;
    const NAME: &'static str = "list-tasks";
    const DOC: &'static str = "List tasks, in natural order of their ids";
    const MUTATES: bool = false;
    const ANSWERS_EMPTY: bool = true;

    fn run(self, team: &mut Team) -> Result<TasksData> {
        let records = team.task_records(Tasks {
            status: self.status,
            owner: self.owner,
            limit: Some(self.limit.unwrap_or(0)),
            cursor: self.cursor,
        })?;
        Ok(TasksData {
            count: records.tasks.len(),
            tasks: records.tasks,
            next_cursor: records.next_cursor,
        })
    }

    fn without_team(&self, _: Refusal) -> Result<TasksData> {
        Ok(TasksData::default())
    }
}
