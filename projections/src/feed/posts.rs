//! Posts in threads that an agent has not acknowledged. Posts are numbered per recipient; an acknowledgement of one covers
//! all before it, so how far an agent is takes one row.

use crate::prelude::*;
use crate::thread;

/// By agent and event id, which grows with the log: a post addressed to that agent.
const POSTS: u8 = 0xB5;
/// By agent: how many posts it got, and how far it acknowledged them.
const COUNTS: u8 = 0x4B;

/// A post addressed to an agent.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct PostInfo {
    /// The event that recorded it.
    pub seq: u64,
    /// Its number among the posts to this agent, from 1.
    pub number: u64,
    /// Its thread.
    pub thread_id: String,
}
row!(PostInfo);

/// Number of an agent's posts, and the last one that it acknowledged.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize,
)]
pub struct PostCounts {
    /// The agent.
    #[rkyv(with = Skip)]
    pub agent: String,
    /// Posts addressed to it.
    pub received: u64,
    /// Those that it acknowledged, which are the oldest.
    pub read: u64,
    /// The event of the last one that it acknowledged.
    pub read_seq: u64,
    /// The id of that event.
    read_id: [u8; 16],
    /// The event of the newest post.
    pub last_seq: u64,
}
row!(PostCounts);

impl PostCounts {
    /// Posts that it has not acknowledged.
    pub fn unread(&self) -> u64 {
        self.received.saturating_sub(self.read)
    }
}

/// Notes a post for one of its recipients, once.
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

/// Notes that an agent acknowledged a post, and thereby all before it. An id that names no post changes nothing.
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
    /// A post by its id, if it is addressed to that agent.
    pub fn post_to(&self, agent: &str, message_id: &str) -> Result<Option<PostInfo>> {
        match thread::event_of_post(message_id) {
            Some(id) => self.rows().get(&post_key(agent, id.bytes())),
            None => Ok(None),
        }
    }
    /// Number of an agent's posts, and the last one that it acknowledged.
    pub fn post_counts(&self, agent: &str) -> Result<PostCounts> {
        let counts: Option<PostCounts> = self.rows().get(&counts_key(agent))?;
        Ok(PostCounts {
            agent: agent.to_owned(),
            ..counts.unwrap_or_default()
        })
    }
    /// The counts of all agents that ever got a post, sorted by name.
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
    /// The first `limit` posts that an agent has not acknowledged: their events, oldest first.
    pub fn unread_posts(&self, agent: &str, limit: usize) -> Result<Vec<u64>> {
        let counts = self.post_counts(agent)?;
        if counts.unread() == 0 {
            return Ok(Vec::new());
        }
        let posts = named(POSTS, agent);
        // The least key after the last one that is read.
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
