//! The feed of an agent: `GET /v1/inbox`.

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
    /// Agent to whom the feed belongs
    agent_id: String,
    /// The entries, oldest first
    events: Vec<FeedEntry>,
    /// Short forms of the entries
    messages: Vec<Notice>,
    /// Value of `since` for the next call, as text; never decreases
    next_since: String,
    /// True if more entries exist already
    more: bool,
}

/// Short form of an entry.
#[derive(Serialize, JsonSchema)]
struct Notice {
    /// Id of the entry
    id: String,
    /// Kind of entry
    #[serde(rename = "type")]
    kind: String,
    /// Task, thread or message of the entry
    payload: About,
    /// Time of the entry
    #[schemars(with = "Timestamp")]
    ts: String,
}

/// Task, thread or message of an entry.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct About {
    /// Id of the task
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<String>,
    /// Id of the thread
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_id: Option<String>,
    /// Id of the message
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<String>,
    /// Agent on whose behalf the actor acted, if the two agents differ
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    /// Agent that acted
    #[serde(skip_serializing_if = "Option::is_none")]
    actor: Option<String>,
    /// Summary in one line
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
        messages: feed.events.iter().map(Notice::new).collect(),
        events: feed.events,
        next_since: feed.next_since.to_string(),
        more: feed.more,
    })
}

impl Notice {
    fn new(entry: &FeedEntry) -> Notice {
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
