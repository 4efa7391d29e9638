//! `task-update`: an agent reports on a task, by message.

use crate::message::send::{Require, Send, SendAnswer};
use crate::prelude::*;

/// What `task-update` is asked.
#[derive(Debug, Clone, Default)]
pub struct TaskUpdate {
    /// Who reports.
    pub from: String,
    /// Who is told.
    pub to: String,
    /// The task.
    pub task_id: String,
    /// Its status; old names (`done`, `skipped`, `cancelled`) count as today's.
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
    /// See [`Send::message_id`].
    pub message_id: Option<String>,
    /// See [`Send::created_at`].
    pub created_at: Option<String>,
    /// See [`Send::cooldown_seconds`].
    pub cooldown_seconds: Option<u64>,
    /// See [`Send::delivery`].
    pub delivery: Option<Require>,
    /// Who does it, if not the sender.
    pub actor: Option<String>,
}

#[derive(Serialize)]
struct Payload<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    eta: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
}

impl From<TaskUpdate> for Send {
    fn from(update: TaskUpdate) -> Send {
        let payload = Payload {
            status: update.status.as_deref(),
            progress: update.progress.as_deref(),
            eta: update.eta.as_deref(),
            blocked: update.blocked,
            note: update.note.as_deref(),
        };
        Send {
            payload: page::json_text(&payload),
            from: update.from,
            to: update.to,
            kind: "task_update".into(),
            message_id: update.message_id,
            task_id: Some(update.task_id),
            trace_id: update.trace_id,
            priority: update.priority,
            created_at: update.created_at,
            cooldown_seconds: update.cooldown_seconds,
            delivery: update.delivery,
            actor: update.actor,
        }
    }
}

impl Team {
    /// Reports on a task.
    pub fn task_update(&mut self, update: TaskUpdate) -> Result<SendAnswer> {
        self.send(update.into())
    }
}
