//! Next command lines for an agent, with the team's names filled in. Words in capitals (`TEXT`) are placeholders that the
//! agent replaces.

use crate::names::LEADER;
use crate::projections::Task;

/// Returns the commands of a claim's holder for its claim-governed task. Leaves out `complete` if the task waits for an
/// approval.
pub(crate) fn of_holder(
    team: &str,
    task: &str,
    worker: &str,
    epoch: u64,
    waits: bool,
) -> Vec<String> {
    let line = |verb: &str, more: &str| {
        format!("teamlog task {verb} {team} {task} --worker {worker} --epoch {epoch}{more}")
    };
    let completes = (!waits).then(|| line("complete", " --result TEXT"));
    let others = [
        line("renew", ""),
        line("fail", " --error TEXT"),
        line("release", ""),
    ];
    completes.into_iter().chain(others).collect()
}

/// Returns the command that claims a task.
pub(crate) fn claim(team: &str, task: &str, worker: &str) -> String {
    format!("teamlog task claim {team} {task} --worker {worker}")
}

/// Returns the command that shows a task and its history.
pub(crate) fn show(team: &str, task: &str) -> String {
    format!("teamlog task show {team} {task} --history")
}

/// Returns the command that reports on a message-governed task to the agent that assigned the task. The report moves the task.
pub(crate) fn report(team: &str, task: &Task, from: &str, status: &str) -> String {
    tell(team, task, from, status) + " --note TEXT"
}

/// Like [`report`], but without a note.
pub(crate) fn tell(team: &str, task: &Task, from: &str, status: &str) -> String {
    let to = task.assigned_by.as_deref().filter(|to| *to != from);
    let (to, task) = (to.unwrap_or(LEADER), &task.task_id);
    format!("teamlog task-update {team} --from {from} --to {to} --task-id {task} --status {status}")
}
