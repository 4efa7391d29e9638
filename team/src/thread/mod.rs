//! Threads: conversations of several agents, linked to tasks.

pub mod comment;
pub mod link;
pub mod list;
pub mod post;
pub(crate) mod prelude;
pub mod search;
pub mod start;
pub mod tail;

use crate::operation::Rules;

/// Rules that use the field names of the HTTP contract.
pub(crate) const RULES: Rules = Rules {
    aliases: &[
        ("threadId", "thread_id"),
        ("taskId", "task_id"),
        ("agentId", "worker"),
        ("message", "body"),
        ("q", "query"),
    ],
    ..Rules::COMMON
};
