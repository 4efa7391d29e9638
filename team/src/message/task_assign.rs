//! `task-assign`: a task goes to an agent, by message.

use crate::message::by_message::task_message;
use crate::message::send::{Require, Send, SendAnswer};
use crate::operation::prelude::*;

task_message! {
    /// Gives a task to an agent.
    TaskAssign as "task_assign" by task_assign {
        /// What it is, in a line.
        subject: String,
        /// What it is, at length; default empty.
        #[serde(serialize_with = "or_empty")]
        details: Option<String>,
        /// Tasks that must be done first.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        deps: Vec<String>,
    }
}

fn or_empty<S: serde::Serializer>(text: &Option<String>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(text.as_deref().unwrap_or_default())
}
