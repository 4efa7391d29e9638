//! The feed of each agent, in the order of the log: its mail, posts in threads, and news of its tasks. Entries are the
//! events themselves, not copies.
//!
//! An entry is *addressed* to one or several agents, or *announced* to all. Announcements are stored once and merged on
//! reading; they wake no agent. News of a task depends on the task's owner, so the fold of tasks stores the news
//! (`task/news.rs`).

mod posts;

pub use posts::{PostCounts, PostInfo};

use crate::event::message::MessageFact;
use crate::event::task::TaskAct;
use crate::event::thread::ThreadAct;
use crate::prelude::*;
use crate::task;

/// Series of mail and posts addressed to an agent, by agent.
const TOLD: u8 = 0xB2;
/// Single series of announcements.
const TOLD_ALL: u8 = 0xB3;

/// A page of a feed, oldest event first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FeedPage {
    /// Seqs of the events, ascending.
    pub seqs: Vec<u64>,
    /// True if the feed has newer events.
    pub more: bool,
}

pub(crate) fn apply(tx: &mut Tx<'_>, recorded: Recorded<'_>) -> Result<()> {
    let event = recorded.event;
    match recorded.fact {
        Fact::Thread(fact) => match &fact.act {
            ThreadAct::Posted(posted) => {
                for agent in &posted.to {
                    tx.mark(&numbered(TOLD, agent, event.seq));
                    posts::receive(tx, event, agent, &fact.thread_id)?;
                }
            }
            ThreadAct::Started(_) | ThreadAct::Linked(_) => {}
        },
        Fact::Task(fact) if is_announced(event, &fact.act) => {
            tx.mark(&numbered(TOLD_ALL, "", event.seq));
        }
        Fact::Message(fact) => match &**fact {
            MessageFact::Sent(sent) => tx.mark(&numbered(TOLD, &sent.to, event.seq)),
            MessageFact::Acked(acked) => posts::acknowledge(tx, &acked.agent, &acked.message_id)?,
            _ => {}
        },
        _ => {}
    }
    Ok(())
}

/// Returns true for news to all agents: a claim, the end of a claim, or an unblocked task without an owner.
fn is_announced(event: &Event<'_>, act: &TaskAct) -> bool {
    match act {
        TaskAct::Claimed(_) | TaskAct::Completed(_) | TaskAct::Failed(_) => true,
        TaskAct::Unblocked => event.refs.get(RefKind::Agent).is_none(),
        _ => false,
    }
}

/// Returns the series of the mail and posts that are addressed to an agent.
pub(crate) fn addressed_to(agent: &str) -> Vec<u8> {
    key::series(TOLD, agent.as_bytes())
}

impl TeamState {
    /// Returns the first `limit` events after `since` in the feed of an agent, oldest first.
    pub fn feed(&self, agent: &str, since: u64, limit: usize) -> Result<FeedPage> {
        let series = [
            addressed_to(agent),
            key::series(TOLD_ALL, b""),
            task::news_of(agent),
        ];
        let mut seqs = Vec::new();
        for series in &series {
            seqs.extend(first(self.rows(), series, since, limit)?);
        }
        seqs.sort_unstable();
        // The event of a claim can occur twice: as an announcement to all agents, and as news for the previous owner of the
        // task.
        seqs.dedup();
        let more = seqs.len() > limit;
        seqs.truncate(limit);
        Ok(FeedPage { seqs, more })
    }
    /// Returns true if an event is addressed to an agent: as mail, a post, or news of its task.
    pub fn is_addressed(&self, agent: &str, seq: u64) -> Result<bool> {
        let rows = self.rows();
        let news = [&*task::news_of(agent), &seq.to_be_bytes()].concat();
        Ok(rows.has(&numbered(TOLD, agent, seq))? || rows.has(&news)?)
    }
    /// Returns the first `limit` events after `since` that are news of an agent's tasks, oldest first.
    pub fn task_news(&self, agent: &str, since: u64, limit: usize) -> Result<FeedPage> {
        let mut seqs = first(self.rows(), &task::news_of(agent), since, limit)?;
        let more = seqs.len() > limit;
        seqs.truncate(limit);
        Ok(FeedPage { seqs, more })
    }
    /// Returns the newest event that is news of an agent's tasks.
    pub fn last_task_news(&self, agent: &str) -> Result<Option<u64>> {
        let page = self.rows().page(&task::news_of(agent), None, 1)?;
        Ok(page.seqs.last().copied())
    }
}

/// Returns the first numbers of a series after `since`, at most `limit` + 1.
fn first(rows: Rows<'_>, series: &[u8], since: u64, limit: usize) -> Result<Vec<u64>> {
    let Some(next) = since.checked_add(1) else {
        return Ok(Vec::new());
    };
    let from = [series, &next.to_be_bytes()].concat();
    let found = rows.walk(&from, &end_of(series), false);
    found
        .take(limit.saturating_add(1))
        .map(|entry| Ok(entry?.seq()))
        .collect()
}
