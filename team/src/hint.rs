//! Hints for callers of operations: which operation leads on after a refusal. Command lines have hints of their own, since
//! only the program knows how it was called and from where.

use crate::refusal::{Code, Refusal};

/// Returns the explanation of a refusal and the operation that leads on. No operation here changes anything, so that every
/// caller may follow it.
pub fn for_operations(refusal: &Refusal) -> Option<String> {
    let operation = match refusal.code {
        Code::TaskNotFound => Some("list them with: list-tasks"),
        Code::ThreadNotFound => Some("list them with: list-threads"),
        Code::ArtifactNotFound => Some("list them with: artifact-list"),
        _ => None,
    };
    let parts = [refusal.hint.as_deref(), operation];
    let parts: Vec<&str> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}
