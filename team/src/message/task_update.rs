//! `task-update`: an agent reports on a task, by message.

use crate::message::by_message::task_message;
use crate::message::send::{Require, Send, SendAnswer};
use crate::operation::prelude::*;

task_message! {
    /// Reports on a task.
    TaskUpdate as "task_update" by task_update {
        /// Its status; old names (`done`, `skipped`, `cancelled`) count as today's.
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<String>,
        /// How far it is, in the reporter's words.
        #[serde(skip_serializing_if = "Option::is_none")]
        progress: Option<String>,
        /// When it will be done, in the reporter's words.
        #[serde(skip_serializing_if = "Option::is_none")]
        eta: Option<String>,
        /// Whether it is blocked.
        #[serde(skip_serializing_if = "Option::is_none")]
        blocked: Option<bool>,
        /// Anything else.
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    }
}
