//! Notices: the entries of an agent's feed without its mail. Answers use notices to show unseen posts and news.
//!
//! A post is unread until the agent acknowledges it or a later post. News of tasks is seen as soon as the agent records any
//! event, because news only repeats the state of tasks.

use crate::message::feed_entry::FeedEntry;
use crate::message::prime::Few;
use crate::operation::prelude::*;

/// Maximum number of news items to count.
const NEWS_MAX: usize = 1_000;

/// A feed entry in few words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "FeedNotice")]
pub struct Notice {
    /// Id to acknowledge a post with; for news, the id of the feed entry
    pub id: String,
    /// Type of the feed entry: `thread_message`, `task_unblocked`, `task_rejected` and so on
    #[serde(rename = "type")]
    pub kind: String,
    /// Author of the post; for news, the agent that acted
    pub from: String,
    /// Thread that the notice is about
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// Task that the notice is about
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Time at which the event was recorded
    #[schemars(with = "Timestamp")]
    pub created_at: String,
    /// Text of the post; for news, a sentence
    pub text: String,
}

/// Returns up to `limit` posts without an ack of the agent, oldest first.
pub(crate) fn posts(
    live: &Live,
    reader: &Reader,
    agent: &str,
    limit: usize,
) -> Result<Few<Notice>> {
    Ok(Few {
        total: live.post_counts(agent)?.unread(),
        items: notices(live, reader, agent, &live.unread_posts(agent, limit)?)?,
    })
}

/// Returns up to `limit` news items about the agent's tasks, oldest first. Skips events before the agent's own last event.
pub(crate) fn news(live: &Live, reader: &Reader, agent: &str, limit: usize) -> Result<Few<Notice>> {
    let mut seqs = live
        .task_news(agent, last_acted(live, agent)?, NEWS_MAX)?
        .seqs;
    let total = seqs.len() as u64;
    seqs.truncate(limit);
    Ok(Few {
        total,
        items: notices(live, reader, agent, &seqs)?,
    })
}

/// Counts the news items of an agent.
pub(crate) fn news_count(live: &Live, agent: &str) -> Result<u64> {
    let page = live.task_news(agent, last_acted(live, agent)?, NEWS_MAX)?;
    Ok(page.seqs.len() as u64)
}

/// Returns the seq of the last event that an agent recorded; 0 if it recorded none.
pub(crate) fn last_acted(live: &Live, agent: &str) -> Result<u64> {
    Ok(live.activity(agent)?.map_or(0, |last| last.seq))
}

fn notices(live: &Live, reader: &Reader, agent: &str, seqs: &[u64]) -> Result<Vec<Notice>> {
    let mut notices = Vec::with_capacity(seqs.len());
    for seq in seqs {
        let event = page::event(live, reader, *seq)?;
        let entry = FeedEntry::from_event(&event, "", agent)?;
        notices.extend(entry.map(|entry| notice(entry, &event)));
    }
    Ok(notices)
}

fn notice(entry: FeedEntry, event: &Event<'_>) -> Notice {
    let is_post = entry.thread_id.is_some();
    let text = match (is_post, entry.summary, entry.content) {
        (true, summary, content) => content.or(summary),
        (false, Some(summary), Some(content)) if !content.is_empty() => {
            Some(format!("{summary}: {content}"))
        }
        (false, summary, content) => summary.or(content),
    };
    let task = event.refs.get(RefKind::Task).map(str::to_owned);
    Notice {
        id: entry.message_id.filter(|_| is_post).unwrap_or(entry.id),
        kind: entry.kind,
        from: entry.from.or(entry.actor).unwrap_or_default(),
        thread_id: entry.thread_id,
        task_id: entry.task_id.or(task),
        created_at: entry.ts,
        text: text.unwrap_or_default(),
    }
}
