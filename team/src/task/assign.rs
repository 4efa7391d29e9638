//! `task-assign`: a task goes to an agent, by message.

use crate::message::send::{Require, Send, SendAnswer};
use crate::prelude::*;

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
    subject: &'a str,
    details: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    deps: &'a [String],
}

impl From<TaskAssign> for Send {
    fn from(assign: TaskAssign) -> Send {
        let payload = Payload {
            subject: &assign.subject,
            details: assign.details.as_deref().unwrap_or_default(),
            deps: &assign.deps,
        };
        Send {
            payload: page::json_text(&payload),
            from: assign.from,
            to: assign.to,
            kind: "task_assign".into(),
            message_id: assign.message_id,
            task_id: Some(assign.task_id),
            trace_id: assign.trace_id,
            priority: assign.priority,
            created_at: assign.created_at,
            cooldown_seconds: assign.cooldown_seconds,
            delivery: assign.delivery,
            actor: assign.actor,
        }
    }
}

impl Team {
    /// Assigns a task.
    pub fn task_assign(&mut self, assign: TaskAssign) -> Result<SendAnswer> {
        self.send(assign.into())
    }
}
