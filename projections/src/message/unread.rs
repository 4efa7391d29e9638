//! Unread messages, with wake-ups separate, so that wake-ups never displace the messages of which they remind.

use super::InboxQuery;
use super::row::{LastSent, UNACKED, Unacked, cooldown_key};
use crate::event::message::MessageType;
use crate::prelude::*;

/// Messages read at a time.
const PAGE: usize = 32;

/// The newest unread messages of an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnreadMail {
    /// Events of messages other than wake-ups, newest first.
    pub mail: Vec<u64>,
    /// Events of wake-ups, newest first.
    pub wakeups: Vec<u64>,
}

impl TeamState {
    /// Returns the newest unread messages to an agent and its former names, with wake-ups separate, at most `limit` of each. Reads more messages than
    /// it returns, but at most one more per wake-up.
    pub fn unread_mail(&self, name: &str, limit: usize) -> Result<UnreadMail> {
        let info = self.whole_agent(name)?;
        let most = |count: u64| limit.min(usize::try_from(count).unwrap_or(usize::MAX));
        let (mail, wakeups) = (
            most(info.unread.saturating_sub(info.wakeups)),
            most(info.wakeups),
        );
        let mut found = UnreadMail::default();
        let mut before = None;
        while found.mail.len() < mail || found.wakeups.len() < wakeups {
            let query = InboxQuery {
                unread: true,
                before,
                limit: PAGE,
            };
            let page = self.whole_inbox(name, query)?;
            for seq in page.seqs.iter().rev() {
                let (list, most) = match is_wakeup(self, *seq)? {
                    true => (&mut found.wakeups, wakeups),
                    false => (&mut found.mail, mail),
                };
                if list.len() < most {
                    list.push(*seq);
                }
            }
            before = page.seqs.first().copied();
            if !page.older {
                break;
            }
        }
        Ok(found)
    }
    /// Returns the id of the message that an event recorded, if the message is unacknowledged.
    pub fn unread_id(&self, seq: u64) -> Result<Option<String>> {
        let unacked: Option<Unacked> = self.rows().get(&numbered(UNACKED, "", seq))?;
        Ok(unacked.map(|unacked| unacked.id))
    }
}

fn is_wakeup(live: &TeamState, seq: u64) -> Result<bool> {
    let Some(id) = live.unread_id(seq)? else {
        return Ok(false);
    };
    let message = live.message(&id)?;
    Ok(message.is_some_and(|message| message.kind == MessageType::AgentWakeupRequired))
}

/// Notes a reminder without a second wake-up: the cooldown of the agent's wake-ups restarts.
pub(super) fn withhold(tx: &mut Tx<'_>, event: &Event<'_>, to: &str) -> Result<()> {
    let key = cooldown_key(to, None, MessageType::AgentWakeupRequired);
    if let Some(mut last) = tx.get::<LastSent>(&key)? {
        last.at = event.created_at;
        tx.put(&key, &last);
    }
    Ok(())
}
