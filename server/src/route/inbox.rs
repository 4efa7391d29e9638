//! What an agent is to be told.

use super::problem::Problem;
use super::record::{SCHEMA_VERSION, moment};
use schemars::JsonSchema;
use serde::Serialize;
use teamlog_team::Team;
use teamlog_team::engine::Timestamp;
use teamlog_team::message::feed_entry::FeedEntry;
use teamlog_team::message::inbox_feed::InboxFeed;

/// `{schemaVersion, agentId, events, messages, nextSince, more}`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InboxBody {
    /// Always `1.0.0`
    schema_version: &'static str,
    /// Whose
    agent_id: String,
    /// The entries, oldest first
    events: Vec<FeedEntry>,
    /// The same in short
    messages: Vec<Notice>,
    /// What to go on from, as text; it never falls behind
    next_since: String,
    /// Whether more follow already
    more: bool,
}

/// An entry in short.
#[derive(Serialize, JsonSchema)]
struct Notice {
    /// Its id
    id: String,
    /// What happened
    #[serde(rename = "type")]
    kind: String,
    /// What it is about
    payload: About,
    /// When
    #[schemars(with = "Timestamp")]
    ts: String,
}

/// What an entry is about.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct About {
    /// The task
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<String>,
    /// The thread
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_id: Option<String>,
    /// The message
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<String>,
    /// In whose name, where that was somebody else
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    /// Who did it
    #[serde(skip_serializing_if = "Option::is_none")]
    actor: Option<String>,
    /// It in a line
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
}

/// `GET /v1/inbox`.
pub fn inbox(asked: InboxFeed, team: &mut Team) -> Result<InboxBody, Problem> {
    let mut feed = team.inbox_feed(&asked)?;
    for entry in &mut feed.events {
        entry.ts = moment(&entry.ts);
    }
    Ok(InboxBody {
        schema_version: SCHEMA_VERSION,
        agent_id: feed.worker,
        messages: feed.events.iter().map(Notice::of).collect(),
        events: feed.events,
        next_since: feed.next_since.to_string(),
        more: feed.more,
    })
}

impl Notice {
    fn of(entry: &FeedEntry) -> Notice {
        Notice {
            id: entry.id.clone(),
            kind: entry.kind.clone(),
            payload: About {
                task_id: entry.task_id.clone(),
                thread_id: entry.thread_id.clone(),
                message_id: entry.message_id.clone(),
                from: entry.from.clone(),
                actor: entry.actor.clone(),
                summary: entry.summary.clone(),
            },
            ts: entry.ts.clone(),
        }
    }
}
