//! Hints for callers of operations: the operation to call after a refusal. The command line has hints of its own, because
//! its hints depend on the program's name and the current directory.

use crate::refusal::{Code, Refusal};

/// Returns the hint of a refusal together with the operation to call next. That operation only reads, so every caller may call it.
pub fn for_operations(refusal: &Refusal) -> Option<String> {
    let operation = match refusal.code {
        Code::TaskNotFound => Some("to see all tasks: list-tasks"),
        Code::ThreadNotFound => Some("to see all threads: list-threads"),
        Code::ArtifactNotFound => Some("to see all artifacts: artifact-list"),
        Code::AppendConflict => Some("to see what was recorded: list-events"),
        _ => None,
    };
    let parts = [refusal.hint.as_deref(), operation];
    let parts: Vec<&str> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}
