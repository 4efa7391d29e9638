//! `append --batch`: many facts, streamed, one atomic group per batch.

use serde::Serialize;

/// How a batch is appended. The lines are JSON objects
/// `{kind, actor?, trace_id?, task_id?, agent?, message_id?, thread_id?, session_id?, key?, cause?, payload?}`.
#[derive(Debug, Clone, Default)]
pub struct AppendBatch {
    /// Events of one atomic group; `None` is 1,000.
    pub batch_size: Option<usize>,
    /// The actor of lines that name none; default `teamlog`.
    pub actor: Option<String>,
}

/// `{count, first_seq, last_seq}`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct BatchAnswer {
    /// Events appended.
    pub count: u64,
    /// Seq of the first; `null` if there was none.
    pub first_seq: Option<u64>,
    /// Seq of the last.
    pub last_seq: Option<u64>,
}
