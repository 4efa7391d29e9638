//! `task-update`: reports on a task by message.

use crate::message::by_message::task_message;
use crate::message::send::{Require, Send, SendAnswer};
use crate::operation::prelude::*;

task_message! {
    /// Reports on a task.
    TaskUpdate as "task_update" by task_update {
        /// Status of the task; the old names `done`, `skipped` and `cancelled` are translated.
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<String>,
        /// Progress in the reporter's words.
        #[serde(skip_serializing_if = "Option::is_none")]
        progress: Option<String>,
        /// Estimated time of completion in the reporter's words.
        #[serde(skip_serializing_if = "Option::is_none")]
        eta: Option<String>,
        /// True if the task is blocked.
        #[serde(skip_serializing_if = "Option::is_none")]
        blocked: Option<bool>,
        /// Note on the task.
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    }
}
