//! `read`: a page of an inbox, towards older messages.

use crate::projections::Message;
use serde::Serialize;

/// What `read` is asked.
#[derive(Debug, Clone, Default)]
pub struct Read {
    /// Whose inbox.
    pub agent: String,
    /// Only messages not acknowledged yet.
    pub unread: bool,
    /// Most messages on the page; `None` is 50, 0 is all.
    pub limit: Option<usize>,
    /// The oldest message of the page before.
    pub cursor: Option<String>,
}

/// `{team, agent, messages, count, next_cursor}`.
#[derive(Debug, Clone, Serialize)]
pub struct ReadAnswer {
    /// The team.
    pub team: String,
    /// Whose inbox.
    pub agent: String,
    /// The page, oldest first.
    #[serde(serialize_with = "crate::shapes::messages")]
    pub messages: Vec<Message>,
    /// Messages on the page.
    pub count: usize,
    /// The oldest id of the page while older ones remain.
    pub next_cursor: Option<String>,
}
