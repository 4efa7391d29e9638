//! Fold of messages: by id, in inboxes, unread, undelivered, and the last message to each recipient.
//!
//! Inboxes are series of seqs; the messages themselves stay in the log. An ack counts as a delivery, so every undelivered message
//! is unread. Two series hold the unread messages of an agent: the undelivered messages, and the delivered messages that wait for
//! their ack.

use super::row::{
    AGENT, AgentInfo, INBOX, LastSent, MESSAGE, MessageInfo, UNACKED, UNDELIVERED, Unacked,
    cooldown_key,
};
use crate::event::message::MessageType;
use crate::event::message::{MailFact, Mark, MessageAcked, MessageFact, Suppressed};
use crate::event::team::TeamFact;
use crate::message::dispatch::DispatchStatus::{Delivered, Failed, Notified};
use crate::message::{dispatch, marks, question, unread, view};
use crate::prelude::*;

/// Folds an event. A second message with the same id, or a second ack, changes nothing.
pub(crate) fn apply(tx: &mut Tx<'_>, recorded: Recorded<'_>) -> Result<()> {
    let event = recorded.event;
    match recorded.fact {
        Fact::Message(fact) => match &**fact {
            MessageFact::Sent(sent) => receive(tx, event, sent),
            MessageFact::Acked(acked) => acknowledge(tx, event, acked),
            MessageFact::Suppressed(Suppressed { withheld: Some(to) }) => {
                unread::withhold(tx, event, to)
            }
            _ => Ok(()),
        },
        Fact::Mail(fact) => match &**fact {
            MailFact::Notified(marked) => marks::mark(tx, event, Mark::Notified, marked),
            MailFact::Delivered(marked) => marks::mark(tx, event, Mark::Delivered, marked),
            MailFact::Requested(request) => dispatch::request(tx, event, request),
            MailFact::DispatchNotified(moved) => dispatch::step(tx, event, Notified, moved),
            MailFact::DispatchDelivered(moved) => dispatch::step(tx, event, Delivered, moved),
            MailFact::DispatchFailed(moved) => dispatch::step(tx, event, Failed, moved),
        },
        Fact::Team(fact) => match &**fact {
            TeamFact::Retired(retired) => match &retired.successor {
                Some(new) => question::rename(tx, &retired.agent, new),
                None => Ok(()),
            },
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

fn receive(tx: &mut Tx<'_>, event: &Event<'_>, sent: &MessageSent) -> Result<()> {
    let key = key_of(MESSAGE, sent.id.as_bytes());
    if tx.has(&key)? {
        return Ok(());
    }
    let message = MessageInfo {
        id: sent.id.clone(),
        seq: event.seq,
        acked: None,
        kind: sent.kind,
        to: sent.to.clone(),
        task_id: sent.task_id.clone(),
        trace_id: sent.trace_id.clone(),
    };
    tx.put(&key, &message);
    let agent_key = key_of(AGENT, sent.to.as_bytes());
    tx.change(&agent_key, |agent: &mut AgentInfo| {
        agent.received += 1;
        agent.unread += 1;
        agent.wakeups += u64::from(sent.kind == MessageType::AgentWakeupRequired);
        agent.view_bytes += view::line_bytes(event, sent.envelope.len(), &sent.from);
        agent.last_seq = event.seq;
    })?;
    tx.put(
        &cooldown_key(&sent.to, sent.task_id.as_deref(), sent.kind),
        &LastSent {
            seq: event.seq,
            // The event's own time may be later than its recording, because times of the log never decrease.
            at: sent.sent_at.min(event.created_at),
        },
    );
    tx.mark(&numbered(INBOX, &sent.to, event.seq));
    tx.mark(&numbered(UNDELIVERED, &sent.to, event.seq));
    let unacked = Unacked {
        seq: event.seq,
        recorded_at: event.created_at,
        id: sent.id.clone(),
        to: sent.to.clone(),
    };
    tx.put(&numbered(UNACKED, "", event.seq), &unacked);
    if let Some(body) = &sent.body {
        marks::note_same(tx, event, sent, body);
    }
    question::receive(tx, event, sent)
}

fn acknowledge(tx: &mut Tx<'_>, event: &Event<'_>, acked: &MessageAcked) -> Result<()> {
    let key = key_of(MESSAGE, acked.message_id.as_bytes());
    let Some(mut message) = tx.get::<MessageInfo>(&key)? else {
        return Ok(());
    };
    if message.acked.is_some() || message.to != acked.agent {
        return Ok(());
    }
    message.acked = Some(event.seq);
    tx.put(&key, &message);
    let agent_key = key_of(AGENT, message.to.as_bytes());
    tx.change(&agent_key, |agent: &mut AgentInfo| {
        agent.unread = agent.unread.saturating_sub(1);
        if message.kind == MessageType::AgentWakeupRequired {
            agent.wakeups = agent.wakeups.saturating_sub(1);
        }
    })?;
    tx.delete(&numbered(UNACKED, "", message.seq));
    marks::acknowledged(tx, event, &acked.message_id, &message)
}
