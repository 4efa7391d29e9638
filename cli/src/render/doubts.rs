//! Notes below an answer about names that are probably typos, and about agents that stopped.

use crate::render::prelude::*;
use teamlog_team::doubts::{RecipientDoubts, RecipientsDoubts, TaskDoubts};

/// Returns notes about the recipient and the sender of a message.
pub fn of_message(doubts: &RecipientDoubts, from: &str, to: &str) -> Vec<String> {
    let unknown = doubts.recipient_unknown.as_deref().map(note);
    let gone = doubts.recipient_gone.map(|at| stopped(to, at));
    let resembles = doubts.sender_resembles.as_deref();
    let resembles =
        resembles.map(|known| note(&format!("{from} is new here; did you mean {known}?")));
    unknown.into_iter().chain(gone).chain(resembles).collect()
}

/// Returns notes about several recipients.
pub fn of_recipients(doubts: &RecipientsDoubts) -> Vec<String> {
    let unknown = doubts.recipients_unknown.iter().map(|text| note(text));
    let gone = doubts.recipients_gone.iter();
    let gone = gone.map(|gone| stopped(&gone.agent, gone.at));
    unknown.chain(gone).collect()
}

/// Returns notes about the dependencies and the owner of a task.
pub fn of_task(doubts: &TaskDoubts, task: &str, owner: &str) -> Vec<String> {
    let deps = unknown_deps(&doubts.unknown_deps, task);
    let unknown = doubts.owner_unknown.as_deref().map(note);
    let gone = doubts.owner_gone;
    let gone = gone.map(|at| note(&format!("{owner} stopped at {at} and may not see the task")));
    deps.into_iter().chain(unknown).chain(gone).collect()
}

/// Returns a note about dependencies that do not exist.
pub fn unknown_deps(deps: &[String], task: &str) -> Option<String> {
    let listed = deps.join(", ");
    let text = format!("task {listed} does not exist yet; task {task} waits for it");
    (!deps.is_empty()).then(|| note(&text))
}

fn stopped(agent: &str, at: Timestamp) -> String {
    note(&format!(
        "{agent} stopped at {at}; the message waits in its inbox"
    ))
}

fn note(text: &str) -> String {
    format!("  {}", visible(text))
}
