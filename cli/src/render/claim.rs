//! Renders the results of creating, claiming, finishing and releasing a task.

use crate::render::prelude::*;
use crate::render::{doubts, paths};
use teamlog_team::ownership::assign::AssignmentAnswer;
use teamlog_team::ownership::review::ReviewAnswer;
use teamlog_team::projections::Status;
use teamlog_team::task::claim::ClaimAnswer;
use teamlog_team::task::claim_next::ClaimNextAnswer;
use teamlog_team::task::create::TaskAnswer;
use teamlog_team::task::finish::HolderAnswer;
use teamlog_team::task::record::TaskRecord;
use teamlog_team::task::renew::RenewAnswer;

/// Renders a created task.
pub fn created(answer: &TaskAnswer, view: &View) -> Vec<String> {
    stood("created ", answer, view)
}

/// Renders a task that was changed without a claim.
pub fn changed(answer: &TaskAnswer, view: &View) -> Vec<String> {
    stood("", answer, view)
}

/// Renders a task, and notes about doubtful names in the task.
fn stood(did: &str, answer: &TaskAnswer, view: &View) -> Vec<String> {
    let task = &answer.task;
    let owner = task.owner.as_deref().unwrap_or_default();
    let mut shown = stands(did, task, view);
    shown.extend(doubts::of_task(&answer.doubts, &task.task_id, owner));
    shown
}

/// Renders a task that was assigned, and the agent that held the task before.
pub fn assigned(answer: &AssignmentAnswer, view: &View) -> Vec<String> {
    let task = &answer.task;
    let owner = task.owner.as_deref().unwrap_or_default();
    let mut shown = stands("", task, view);
    shown.push(match owner {
        "" => "  for any agent".to_owned(),
        owner => format!("  for {}", visible(owner)),
    });
    if answer.unchanged {
        shown.push("  nothing was recorded: the task was assigned like this already".to_owned());
    }
    if let Some(holder) = &answer.taken_from {
        shown.push(format!(
            "  taken from {}, who got a message",
            visible(holder)
        ));
    }
    shown.extend(doubts::of_task(&answer.doubts, &task.task_id, owner));
    shown
}

/// Renders a task whose holder asked for a review, and the reviewer.
pub fn review(answer: &ReviewAnswer, view: &View) -> Vec<String> {
    let mut shown = stands("", &answer.task, view);
    let reviewer = visible(&answer.reviewer);
    shown.push(format!(
        "  waits for the approval of {reviewer}, who got a message"
    ));
    shown
}

/// Renders a task that its holder finished or released.
pub fn held(answer: &HolderAnswer, view: &View) -> Vec<String> {
    stands("", &answer.task, view)
}

/// Renders a claimed task with the claim's token.
pub fn claimed(answer: &ClaimAnswer, view: &View) -> Vec<String> {
    let (task, until) = (&answer.task, answer.leased_until);
    let mut shown = taken(task, Some(&answer.claim_token), until, view);
    shown.extend(paths::overlaps(&answer.overlaps, view));
    shown
}

/// Renders a task with a renewed claim. The token is shown only if the answer has it.
pub fn renewed(answer: &RenewAnswer, view: &View) -> Vec<String> {
    let (token, until) = (answer.claim_token.as_deref(), answer.leased_until);
    taken(&answer.task, token, until, view)
}

/// Renders the next task, if one was claimed.
pub fn next(answer: &ClaimNextAnswer, view: &View) -> Vec<String> {
    match (&answer.task, &answer.claim_token, answer.leased_until) {
        (Some(task), Some(token), Some(until)) => {
            let mut shown = taken(task, Some(token), until, view);
            shown.extend(paths::overlaps(&answer.overlaps, view));
            shown
        }
        _ => vec!["nothing is ready".to_owned()],
    }
}

/// Formats `T-1 completed Fix it`, followed by the task's dependencies and its result or error.
fn stands(did: &str, task: &TaskRecord, view: &View) -> Vec<String> {
    let style = Style::of_status(task.status);
    let mut line = format!(
        "{did}{}  {}  {}",
        view.paint.show(Style::Bold, visible(&task.task_id)),
        view.paint.show(style, visible(task.status.name())),
        visible(task.subject.as_deref().unwrap_or_default())
    );
    if task.status == Status::Blocked {
        let tasks = task.deps.join(", ");
        line.push_str(&format!("  waits for {}", visible(&tasks)));
    }
    let outcome = task
        .governed
        .result
        .as_deref()
        .or(task.governed.error.as_deref());
    let outcome = outcome.map(|text| format!("  {}", visible(text)));
    [line].into_iter().chain(outcome).collect()
}

fn taken(task: &TaskRecord, token: Option<&str>, until: Timestamp, view: &View) -> Vec<String> {
    let owner = task.owner.as_deref().unwrap_or_default();
    let token = token.map(|token| format!(", token {}", visible(token)));
    let id = view.paint.show(Style::Bold, visible(&task.task_id));
    vec![
        format!(
            "{id}  {}",
            visible(task.subject.as_deref().unwrap_or_default())
        ),
        format!(
            "  {} holds it until {until}  ({})",
            visible(owner),
            view.ago(until)
        ),
        format!(
            "  claim {}{}",
            task.governed.epoch,
            token.unwrap_or_default()
        ),
    ]
}
