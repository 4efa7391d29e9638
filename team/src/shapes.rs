//! The stored shapes that answers show.

/// A message envelope.
pub type Message = serde_json::Value;
/// A task snapshot.
pub type Task = serde_json::Value;
