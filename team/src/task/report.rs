//! Status reports by message on a claim-governed task, as text.

use crate::projections::{Status, Task};
use teamlog_engine::Json;

/// Returns the last report of the task's holder in one line, such as `in_progress, blocked, 40%, eta tomorrow: waits for the schema`. The text
/// is empty if there is no report.
pub fn words(task: &Task) -> String {
    let reported = &task.reported;
    let status = match (task.reported_status, &task.reported_owner) {
        (Some(Status::Assigned), Some(owner)) => Some(format!("assigned to {owner}")),
        (status, _) => status.map(|status| status.name().to_owned()),
    };
    // If another agent reported the status, the other fields are the holder's.
    let is_others = reported.status_by.is_some() && reported.by.is_some();
    let status = status.filter(|_| !is_others);
    let blocked = reported.blocked.then(|| "blocked".to_owned());
    let progress = reported.progress.as_ref().map(said);
    let eta = reported.eta.as_ref().map(said);
    let eta = eta.map(|eta| format!("eta {eta}"));
    let words = [status, blocked, progress, eta].into_iter().flatten();
    let words = words.collect::<Vec<String>>().join(", ");
    match &reported.note {
        Some(note) if words.is_empty() => note.clone(),
        Some(note) => format!("{words}: {note}"),
        None => words,
    }
}

/// Returns the agent that reported on the task, unless that agent is `owner`.
pub fn by_other(task: &Task, owner: &str) -> Option<String> {
    let reported = &task.reported;
    let by = reported.by.as_ref().or(reported.status_by.as_ref());
    by.filter(|by| *by != owner).cloned()
}

/// Returns the text of a JSON string without quotes. Returns any other value as JSON.
fn said(json: &Json) -> String {
    serde_json::from_str::<String>(json.as_str()).unwrap_or_else(|_| json.as_str().to_owned())
}
