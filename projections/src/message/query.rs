//! Queries of messages and inboxes.

use super::row::{
    AGENT, AgentInfo, DELIVERED, INBOX, LastSent, MESSAGE, MessageInfo, UNACKED, UNDELIVERED,
    Unacked, cooldown_key,
};
use crate::message::{Message, MessageType};
use crate::prelude::*;

/// Selection of a part of an inbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InboxQuery {
    /// True for unacknowledged messages only.
    pub unread: bool,
    /// Limit to messages recorded before this event (the cursor).
    pub before: Option<u64>,
    /// Largest number of messages.
    pub limit: usize,
}

impl TeamState {
    /// Returns the message with this id.
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
    /// Returns the counts of an agent's inbox; zeros if the agent never got a message.
    pub fn agent(&self, name: &str) -> Result<AgentInfo> {
        let agent: Option<AgentInfo> = self.rows().get(&key_of(AGENT, name.as_bytes()))?;
        Ok(AgentInfo {
            name: name.to_owned(),
            ..agent.unwrap_or_default()
        })
    }
    /// Returns all agents with an inbox, sorted by name.
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
    /// Returns a page of an inbox: the newest `limit` messages, oldest first.
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
    /// Returns a page of the inbox of an agent, with the mail to its former names: the newest `limit` messages, oldest first.
    pub fn whole_inbox(&self, agent: &str, query: InboxQuery) -> Result<SeqPage> {
        let mut page = self.inbox(agent, query)?;
        for former in self.former_names(agent)? {
            let earlier = self.inbox(&former, query)?;
            page.seqs.extend(earlier.seqs);
            page.older |= earlier.older;
        }
        page.seqs.sort_unstable();
        let surplus = page.seqs.len().saturating_sub(query.limit);
        page.seqs.drain(..surplus);
        page.older |= surplus > 0;
        Ok(page)
    }
    /// Returns the counts of the inbox of an agent, with the mail to its former names.
    pub fn whole_agent(&self, name: &str) -> Result<AgentInfo> {
        let mut info = self.agent(name)?;
        for former in self.former_names(name)? {
            let earlier = self.agent(&former)?;
            info.received += earlier.received;
            info.unread += earlier.unread;
            info.wakeups += earlier.wakeups;
        }
        Ok(info)
    }
    /// Returns a page of undelivered messages: the newest `limit` messages before event `before`, oldest first.
    pub fn undelivered(&self, agent: &str, before: Option<u64>, limit: usize) -> Result<SeqPage> {
        let series = key::series(UNDELIVERED, agent.as_bytes());
        self.rows().page(&series, before, limit)
    }
    /// Counts the unread list of an agent entry by entry, for checks.
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
    /// Returns the time at which a message of a type was last sent to `to` about a task, for the cooldown.
    pub fn last_sent(
        &self,
        to: &str,
        task_id: Option<&str>,
        kind: MessageType,
    ) -> Result<Option<LastSent>> {
        self.rows().get(&cooldown_key(to, task_id, kind))
    }
    /// Returns the oldest unacknowledged messages recorded before `before`, oldest first.
    pub fn stale_messages(&self, before: Timestamp, limit: usize) -> Result<Vec<Unacked>> {
        let mut found = Vec::new();
        let series = key::series(UNACKED, b"");
        for entry in self.rows().prefix(&series, false).take(limit) {
            let entry = entry?;
            let unacked = Unacked {
                seq: entry.seq(),
                ..entry.row()?
            };
            // Times increase in the order of the log, so the first newer message ends the search.
            if unacked.recorded_at >= before {
                break;
            }
            found.push(unacked);
        }
        Ok(found)
    }
}

/// Returns every message of an inbox, oldest first.
pub(crate) fn inbox_seqs<'a>(
    rows: Rows<'a>,
    agent: &str,
) -> impl Iterator<Item = Result<u64>> + use<'a> {
    rows.prefix(&key::series(INBOX, agent.as_bytes()), false)
        .map(|entry| Ok(entry?.seq()))
}
