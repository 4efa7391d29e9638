//! `task-update`: an agent reports on a task, by message.

/// What `task-update` is asked.
#[derive(Debug, Clone, Default)]
pub struct TaskUpdate {
    /// Who reports.
    pub from: String,
    /// Who is told.
    pub to: String,
    /// The task.
    pub task_id: String,
    /// Its status; old names (`done`, `skipped`, `cancelled`) are stored under today's.
    pub status: Option<String>,
    /// How far it is, in the reporter's words.
    pub progress: Option<String>,
    /// When it will be done, in the reporter's words.
    pub eta: Option<String>,
    /// Whether it is blocked.
    pub blocked: Option<bool>,
    /// Anything else.
    pub note: Option<String>,
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
