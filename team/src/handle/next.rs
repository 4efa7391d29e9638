//! What an agent can type next: command lines that run as they stand, with the names of the team filled in. What stands
//! in capitals (`TEXT`) is for the agent to say.

use crate::names::LEADER;
use crate::projections::Task;

/// Actions of a claim's holder on its task; no message moves it. A task that waits for its approval is not completed.
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

/// The claim of a task that is to be taken.
pub(crate) fn claim(team: &str, task: &str, worker: &str) -> String {
    format!("teamlog task claim {team} {task} --worker {worker}")
}

/// The command that shows a task and its history.
pub(crate) fn show(team: &str, task: &str) -> String {
    format!("teamlog task show {team} {task} --history")
}

/// The report that moves a task which messages govern, to whoever gave it out.
pub(crate) fn report(team: &str, task: &Task, from: &str, status: &str) -> String {
    tell(team, task, from, status) + " --note TEXT"
}

/// The same without a note.
pub(crate) fn tell(team: &str, task: &Task, from: &str, status: &str) -> String {
    let to = task.assigned_by.as_deref().filter(|to| *to != from);
    let (to, task) = (to.unwrap_or(LEADER), &task.task_id);
    format!("teamlog task-update {team} --from {from} --to {to} --task-id {task} --status {status}")
}
