//! Questions about messages and inboxes.

use super::row::{
    AGENT, AgentInfo, DELIVERED, INBOX, LastSent, MESSAGE, MessageInfo, UNACKED, UNDELIVERED,
    Unacked, cooldown_key,
};
use crate::message::{Message, MessageType};
use crate::prelude::*;

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

impl TeamState {
    /// A message by its id.
    pub fn message(&self, id: &str) -> Result<Option<MessageInfo>> {
        let message: Option<MessageInfo> = self.rows().get(&key_of(MESSAGE, id.as_bytes()))?;
        let id = id.to_owned();
        Ok(message.map(|message| MessageInfo { id, ..message }))
    }
    /// Reads the message that an event recorded.
    pub fn sent(&self, reader: &Reader, seq: u64) -> Result<Option<Message>> {
        match self.event(reader, seq)? {
            Some(event) => Message::from_event(&event).map(Some),
            None => Ok(None),
        }
    }
    /// An agent's inbox in numbers; zeros for one that never got anything.
    pub fn agent(&self, name: &str) -> Result<AgentInfo> {
        let agent: Option<AgentInfo> = self.rows().get(&key_of(AGENT, name.as_bytes()))?;
        Ok(AgentInfo {
            name: name.to_owned(),
            ..agent.unwrap_or_default()
        })
    }
    /// All agents that have an inbox, sorted by name.
    pub fn agents(&self) -> Result<Vec<AgentInfo>> {
        let agents = self.rows().prefix(&[AGENT], false).map(|entry| {
            let entry = entry?;
            Ok(AgentInfo {
                name: entry.name(1),
                ..entry.row()?
            })
        });
        agents.collect()
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
            let series = key::series(series, agent.as_bytes());
            for entry in self.rows().prefix(&series, false) {
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
        self.rows().get(&cooldown_key(to, task_id, kind))
    }
    /// The oldest messages that were recorded before `before` and never acknowledged, oldest first.
    pub fn stale_messages(&self, before: Timestamp, limit: usize) -> Result<Vec<Unacked>> {
        let mut found = Vec::new();
        let series = key::series(UNACKED, b"");
        for entry in self.rows().prefix(&series, false).take(limit) {
            let entry = entry?;
            let unacked = Unacked {
                seq: entry.seq(),
                ..entry.row()?
            };
            // In the order of the log times only grow, so the first that is too new ends the walk.
            if unacked.recorded_at >= before {
                break;
            }
            found.push(unacked);
        }
        Ok(found)
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
