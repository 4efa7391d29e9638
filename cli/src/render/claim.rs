//! Claims: the result of creating, claiming, finishing or releasing a task.

use crate::render::prelude::*;
use crate::render::{doubts, paths};
use teamlog_team::projections::Status;
use teamlog_team::task::claim::ClaimAnswer;
use teamlog_team::task::claim_next::ClaimNextAnswer;
use teamlog_team::task::create::TaskAnswer;
use teamlog_team::task::finish::HolderAnswer;
use teamlog_team::task::record::TaskRecord;
use teamlog_team::task::renew::RenewAnswer;

/// A task that was created.
pub fn created(answer: &TaskAnswer, view: &View) -> Vec<String> {
    stood("created ", answer, view)
}

/// A task that was changed without a claim.
pub fn changed(answer: &TaskAnswer, view: &View) -> Vec<String> {
    stood("", answer, view)
}

/// The task, and doubts about the names in it.
fn stood(did: &str, answer: &TaskAnswer, view: &View) -> Vec<String> {
    let task = &answer.task;
    let owner = task.owner.as_deref().unwrap_or_default();
    let mut shown = stands(did, task, view);
    shown.extend(doubts::of_task(&answer.doubts, &task.task_id, owner));
    shown
}

/// A task that its holder finished or released.
pub fn held(answer: &HolderAnswer, view: &View) -> Vec<String> {
    stands("", &answer.task, view)
}

/// A claimed task, with the proof of the claim.
pub fn claimed(answer: &ClaimAnswer, view: &View) -> Vec<String> {
    let (task, until) = (&answer.task, answer.leased_until);
    let mut shown = taken(task, Some(&answer.claim_token), until, view);
    shown.extend(paths::overlaps(&answer.overlaps, view));
    shown
}

/// A task with a renewed claim; the proof is shown only to a caller who may see it.
pub fn renewed(answer: &RenewAnswer, view: &View) -> Vec<String> {
    let (token, until) = (answer.claim_token.as_deref(), answer.leased_until);
    taken(&answer.task, token, until, view)
}

/// The next task, if there was one to claim.
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

/// `T-1 completed Fix it`, with its dependencies, its result or its error.
fn stands(did: &str, task: &TaskRecord, view: &View) -> Vec<String> {
    let style = match task.status {
        Status::Completed => Style::Good,
        Status::Failed => Style::Bad,
        Status::Blocked => Style::Warn,
        _ => Style::Plain,
    };
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
