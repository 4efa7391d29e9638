//! Posts in threads that an agent has not acknowledged. Posts are numbered per recipient, and an ack also acknowledges all
//! earlier posts, so one row stores an agent's position.

use crate::prelude::*;
use crate::thread;

/// Namespace of posts; key: recipient and event id, which increases with the log.
const POSTS: u8 = 0xB5;
/// Namespace of post counts; key: agent.
const COUNTS: u8 = 0x4B;

/// A post addressed to an agent.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct PostInfo {
    /// Event that recorded the post.
    pub seq: u64,
    /// Number among the posts to this agent, from 1.
    pub number: u64,
    /// Id of the thread.
    pub thread_id: String,
}
row!(PostInfo);

/// Number of an agent's posts, and the last acknowledged post.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize,
)]
pub struct PostCounts {
    /// Name of the agent.
    #[rkyv(with = Skip)]
    pub agent: String,
    /// Number of posts addressed to the agent.
    pub received: u64,
    /// Number of acknowledged posts, which are the oldest.
    pub read: u64,
    /// Event of the last acknowledged post.
    pub read_seq: u64,
    /// Id of the event of the last acknowledged post.
    read_id: [u8; 16],
    /// Event of the newest post.
    pub last_seq: u64,
}
row!(PostCounts);

impl PostCounts {
    /// Returns the number of unacknowledged posts.
    pub fn unread(&self) -> u64 {
        self.received.saturating_sub(self.read)
    }
}

/// Adds a post for one of its recipients, once.
pub(super) fn receive(
    tx: &mut Tx<'_>,
    event: &Event<'_>,
    agent: &str,
    thread_id: &str,
) -> Result<()> {
    let key = post_key(agent, event.id.bytes());
    if tx.has(&key)? {
        return Ok(());
    }
    let mut number = 0;
    tx.change(&counts_key(agent), |counts: &mut PostCounts| {
        counts.received += 1;
        counts.last_seq = event.seq;
        number = counts.received;
    })?;
    let post = PostInfo {
        seq: event.seq,
        number,
        thread_id: thread_id.to_owned(),
    };
    tx.put(&key, &post);
    Ok(())
}

/// Acknowledges a post and all earlier posts. An id that is no post changes nothing.
pub(super) fn acknowledge(tx: &mut Tx<'_>, agent: &str, message_id: &str) -> Result<()> {
    let Some(id) = thread::event_of_post(message_id) else {
        return Ok(());
    };
    let Some(post) = tx.get::<PostInfo>(&post_key(agent, id.bytes()))? else {
        return Ok(());
    };
    let key = counts_key(agent);
    let mut counts: PostCounts = tx.get(&key)?.unwrap_or_default();
    if post.number > counts.read {
        counts.read = post.number;
        counts.read_seq = post.seq;
        counts.read_id = id.bytes();
        tx.put(&key, &counts);
    }
    Ok(())
}

impl TeamState {
    /// Returns the post with this id, if the post is addressed to the agent.
    pub fn post_to(&self, agent: &str, message_id: &str) -> Result<Option<PostInfo>> {
        match thread::event_of_post(message_id) {
            Some(id) => self.rows().get(&post_key(agent, id.bytes())),
            None => Ok(None),
        }
    }
    /// Returns the post counts of an agent.
    pub fn post_counts(&self, agent: &str) -> Result<PostCounts> {
        let counts: Option<PostCounts> = self.rows().get(&counts_key(agent))?;
        Ok(PostCounts {
            agent: agent.to_owned(),
            ..counts.unwrap_or_default()
        })
    }
    /// Returns the counts of all agents with posts, sorted by name.
    pub fn all_post_counts(&self) -> Result<Vec<PostCounts>> {
        let all = self.rows().prefix(&[COUNTS], false).map(|entry| {
            let entry = entry?;
            Ok(PostCounts {
                agent: entry.name(1),
                ..entry.row()?
            })
        });
        all.collect()
    }
    /// Returns the events of an agent's first `limit` unacknowledged posts, oldest first.
    pub fn unread_posts(&self, agent: &str, limit: usize) -> Result<Vec<u64>> {
        let counts = self.post_counts(agent)?;
        if counts.unread() == 0 {
            return Ok(Vec::new());
        }
        let posts = named(POSTS, agent);
        // The key is the smallest key after the last acknowledged post.
        let from = match counts.read {
            0 => posts.clone(),
            _ => [&*post_key(agent, counts.read_id), &[0]].concat(),
        };
        let unread = self.rows().walk(&from, &end_of(&posts), false);
        let seqs = unread.take(limit).map(|entry| {
            let post: PostInfo = entry?.row()?;
            Ok(post.seq)
        });
        seqs.collect()
    }
}

fn counts_key(agent: &str) -> Vec<u8> {
    key_of(COUNTS, agent.as_bytes())
}

fn post_key(agent: &str, id: [u8; 16]) -> Vec<u8> {
    [&*named(POSTS, agent), &id].concat()
}
