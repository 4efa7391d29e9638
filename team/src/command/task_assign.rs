//! `task-assign`: a task goes to an agent, by message.

/// What `task-assign` is asked.
#[derive(Debug, Clone, Default)]
pub struct TaskAssign {
    /// Who assigns.
    pub from: String,
    /// The new owner.
    pub to: String,
    /// The task.
    pub task_id: String,
    /// What it is, in a line.
    pub subject: String,
    /// What it is, at length; default empty.
    pub details: Option<String>,
    /// Tasks that must be done first.
    pub deps: Vec<String>,
    /// The story it belongs to; else inherited from the task.
    pub trace_id: Option<String>,
    /// `low normal high critical`; default `normal`.
    pub priority: Option<String>,
    /// See [`super::send::Send::message_id`].
    pub message_id: Option<String>,
    /// See [`super::send::Send::created_at`].
    pub created_at: Option<String>,
    /// See [`super::send::Send::cooldown_seconds`].
    pub cooldown_seconds: Option<u64>,
    /// Who does it, if not the sender.
    pub actor: Option<String>,
}
