//! Questions about messages and inboxes.

use super::row::{
    AGENT, AgentRow, DELIVERED, INBOX, LastSentRow, MESSAGE, MessageRow, UNACKED, UNDELIVERED,
    UnackedRow, cooldown_key,
};
use crate::live::SeqPage;
use crate::message::MessageType;
use crate::prelude::*;
use teamlog_engine::derived::key;

/// What is known of a message without reading the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageInfo {
    /// Its id.
    pub id: String,
    /// The event that recorded it.
    pub seq: u64,
    /// Its type.
    pub kind: MessageType,
    /// Its recipient.
    pub to: String,
    /// The task concerned.
    pub task_id: Option<String>,
    /// The story it belongs to.
    pub trace_id: Option<String>,
    /// The event that acknowledged it.
    pub acked: Option<u64>,
}

impl MessageInfo {
    /// A message that the log does not hold.
    pub fn unknown(id: &str, to: &str) -> MessageInfo {
        MessageInfo {
            id: id.to_owned(),
            seq: 0,
            kind: MessageType::Message,
            to: to.to_owned(),
            task_id: None,
            trace_id: None,
            acked: None,
        }
    }
}

/// What an agent's inbox amounts to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentInfo {
    /// The agent.
    pub name: String,
    /// Messages received.
    pub received: u64,
    /// Of those, not acknowledged.
    pub unread: u64,
    /// Of the unread ones, wake-ups (`agent_wakeup_required`), which nobody is to be woken up for.
    pub wakeups: u64,
    /// Exact length of `inboxes/<agent>.jsonl` in bytes, if it is whole.
    pub view_bytes: u64,
    /// The last event that put something into the inbox.
    pub last_seq: u64,
}

/// A message that nobody acknowledged yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unacked {
    /// The event that recorded it.
    pub seq: u64,
    /// Its id.
    pub id: String,
    /// Its recipient.
    pub to: String,
    /// When it was recorded.
    pub recorded_at: Timestamp,
}

/// When something was last sent to a recipient about a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastSent {
    /// The event that recorded it.
    pub seq: u64,
    /// When it was sent.
    pub at: Timestamp,
}

/// Which part of an inbox is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InboxQuery {
    /// Only messages that are not acknowledged.
    pub unread: bool,
    /// Only messages recorded before that event (the cursor).
    pub before: Option<u64>,
    /// At most so many.
    pub limit: usize,
}

impl Live {
    /// A message by its id.
    pub fn message(&self, id: &str) -> Result<Option<MessageInfo>> {
        let row: Option<MessageRow> = self.rows().get(&key_of(MESSAGE, id.as_bytes()))?;
        Ok(row.map(|row| MessageInfo {
            id: id.to_owned(),
            seq: row.seq,
            kind: MessageType::ALL
                .get(usize::from(row.kind))
                .copied()
                .unwrap_or(MessageType::Message),
            to: row.to,
            task_id: row.task_id,
            trace_id: row.trace_id,
            acked: (row.acked != 0).then_some(row.acked),
        }))
    }
    /// An agent's inbox in numbers; zeros for one that never got anything.
    pub fn agent(&self, name: &str) -> Result<AgentInfo> {
        let row: Option<AgentRow> = self.rows().get(&key_of(AGENT, name.as_bytes()))?;
        Ok(agent_info(name.to_owned(), row.unwrap_or_default()))
    }
    /// All agents that have an inbox, sorted by name.
    pub fn agents(&self) -> Result<Vec<AgentInfo>> {
        self.rows()
            .prefix(&[AGENT], false)
            .map(|entry| {
                let entry = entry?;
                Ok(agent_info(
                    String::from_utf8_lossy(entry.behind(1)).into_owned(),
                    entry.row()?,
                ))
            })
            .collect()
    }
    /// A page of an inbox: the newest `limit` messages, oldest of the page first.
    pub fn inbox(&self, agent: &str, query: InboxQuery) -> Result<SeqPage> {
        if !query.unread {
            let inbox = key::series(INBOX, agent.as_bytes());
            return self.rows().page(&inbox, query.before, query.limit);
        }
        let mut unread = self.undelivered(agent, query.before, query.limit)?;
        let delivered = key::series(DELIVERED, agent.as_bytes());
        let delivered = self.rows().page(&delivered, query.before, query.limit)?;
        unread.seqs.extend(delivered.seqs);
        unread.seqs.sort_unstable();
        let surplus = unread.seqs.len().saturating_sub(query.limit);
        unread.seqs.drain(..surplus);
        unread.older |= delivered.older || surplus > 0;
        Ok(unread)
    }
    /// A page of the messages of an inbox that are not delivered: the newest `limit` before `before`, oldest first.
    pub fn undelivered(&self, agent: &str, before: Option<u64>, limit: usize) -> Result<SeqPage> {
        let series = key::series(UNDELIVERED, agent.as_bytes());
        self.rows().page(&series, before, limit)
    }
    /// How many messages are listed as unread of an agent, counted one by one: for checks.
    pub fn unread_count(&self, agent: &str) -> Result<u64> {
        let mut count = 0;
        for series in [UNDELIVERED, DELIVERED] {
            for entry in self
                .rows()
                .prefix(&key::series(series, agent.as_bytes()), false)
            {
                entry?;
                count += 1;
            }
        }
        Ok(count)
    }
    /// When a message of that type was last sent to `to` about that task (for the cooldown).
    pub fn last_sent(
        &self,
        to: &str,
        task_id: Option<&str>,
        kind: MessageType,
    ) -> Result<Option<LastSent>> {
        let row: Option<LastSentRow> = self.rows().get(&cooldown_key(to, task_id, kind))?;
        Ok(row.map(|row| LastSent {
            seq: row.seq,
            at: time(row.at),
        }))
    }
    /// The oldest messages that were recorded before `before` and never acknowledged, oldest first.
    pub fn stale_messages(&self, before: Timestamp, limit: usize) -> Result<Vec<Unacked>> {
        let mut found = Vec::new();
        for entry in self
            .rows()
            .prefix(&key::series(UNACKED, b""), false)
            .take(limit)
        {
            let entry = entry?;
            let row: UnackedRow = entry.row()?;
            // In the order of the log times only grow, so the first that is too new ends the walk.
            if time(row.at) >= before {
                break;
            }
            found.push(Unacked {
                seq: entry.seq(),
                id: row.id,
                to: row.to,
                recorded_at: time(row.at),
            });
        }
        Ok(found)
    }
}

fn agent_info(name: String, row: AgentRow) -> AgentInfo {
    AgentInfo {
        name,
        received: row.received,
        unread: row.unread,
        wakeups: row.wakeups,
        view_bytes: row.view_bytes,
        last_seq: row.last_seq,
    }
}

/// Every message of an inbox, oldest first.
pub(crate) fn inbox_seqs<'a>(
    rows: Rows<'a>,
    agent: &str,
) -> impl Iterator<Item = Result<u64>> + use<'a> {
    rows.prefix(&key::series(INBOX, agent.as_bytes()), false)
        .map(|entry| Ok(entry?.seq()))
}
