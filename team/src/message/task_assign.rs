//! `task-assign`: assigns a task to an agent by message.

use crate::message::by_message::task_message;
use crate::message::send::{Require, Send, SendAnswer};
use crate::operation::prelude::*;

task_message! {
    /// Assigns a task to an agent.
    TaskAssign as "task_assign" by task_assign {
        /// Subject of the task, in one line.
        subject: String,
        /// Details of the task; default empty.
        #[serde(serialize_with = "or_empty")]
        details: Option<String>,
        /// Tasks that must be completed first.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        deps: Vec<String>,
    }
}

fn or_empty<S: serde::Serializer>(text: &Option<String>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(text.as_deref().unwrap_or_default())
}
