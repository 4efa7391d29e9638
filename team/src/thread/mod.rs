//! Threads: conversations of several agents, linked to tasks.

pub mod link;
pub mod post;
pub mod search;
pub mod start;
pub mod tail;
