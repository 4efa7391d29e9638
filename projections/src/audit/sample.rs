//! Quick check: compares a sample of events with the index, the state and the view files. The cost of the check depends on the
//! size of the sample, not on the length of the log.

use super::{Audit, in_inbox, indexed};
use crate::event::message::MessageFact;
use crate::live::Live;
use crate::message::InboxQuery;
use crate::prelude::*;

/// Result of checking a sample.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sample {
    /// Number of checked events.
    pub events: u64,
    /// Comparison of the state with the events.
    pub audit: Audit,
    /// Recipients of the sample's messages.
    pub agents: BTreeSet<String>,
    /// Tasks of the sample's events.
    pub tasks: BTreeSet<String>,
}

/// Checks about `size` events spread over the whole log, including the last event. Reads each event at its place, verifies its
/// checksum, and compares all stored data that folds derived from the event.
pub fn sample(live: &Live, reader: &Reader, size: u64) -> Result<Sample> {
    let mut sample = Sample::default();
    let last = live.seq();
    let stride = last.div_ceil(size.max(1)).max(1);
    let spread = (1..last).step_by(usize::try_from(stride).unwrap_or(usize::MAX));
    for seq in spread.chain((last > 0).then_some(last)) {
        let Some(place) = live.place(seq)? else {
            let index = &mut sample.audit.index;
            index.expect(false, || format!("the index knows no event {seq}"));
            continue;
        };
        let event = reader.at(place)?;
        sample.events += 1;
        let index = &mut sample.audit.index;
        index.expect(event.seq == seq, || {
            format!(
                "the index has the wrong place for event {seq}: event {} is there",
                event.seq
            )
        });
        indexed(live, &event, place, index)?;
        if !event.foreign
            && let Fact::Message(fact) = Fact::decode(&event)?
        {
            sample.message(live, seq, &fact)?;
        }
    }
    for agent in &sample.agents {
        unread(live, agent, &mut sample.audit)?;
    }
    Ok(sample)
}

impl Sample {
    fn message(&mut self, live: &Live, seq: u64, fact: &MessageFact) -> Result<()> {
        match fact {
            MessageFact::Sent(sent) => self.sent(live, seq, sent),
            MessageFact::Acked(acked) => {
                let known = live.message(&acked.message_id)?;
                let counts = known.filter(|known| known.to == acked.agent && known.seq < seq);
                let noted = counts.is_none_or(|known| known.acked.is_some_and(|by| by <= seq));
                self.audit.acks.expect(noted, || {
                    let id = &acked.message_id;
                    format!("event {seq} acknowledges {id}, but the index has no ack")
                });
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn sent(&mut self, live: &Live, seq: u64, sent: &MessageSent) -> Result<()> {
        if let (Some(id), Some(_)) = (&sent.task_id, &sent.change) {
            let task = live.task(id)?;
            let newest = task.map(|task| (task.last_message_created_at, task.last_message_id));
            let behind = newest.is_none_or(|newest| newest < (sent.created_at, sent.id.clone()));
            self.audit.snapshots.expect(!behind, || {
                format!(
                    "the snapshot of task {id} does not contain its message {}",
                    sent.id
                )
            });
            self.tasks.insert(id.clone());
        }
        let known = live.message(&sent.id)?;
        let known = known.filter(|known| known.seq <= seq && known.to == sent.to);
        self.audit.inbox.expect(known.is_some(), || {
            format!("the index has no message {} of event {seq}", sent.id)
        });
        // If the log has two messages with one id, the index has the first message.
        if let Some(known) = known.filter(|known| known.seq == seq) {
            let inbox = &mut self.audit.inbox;
            in_inbox(live, (seq, sent), known.acked.is_none(), inbox)?;
            self.agents.insert(sent.to.clone());
        }
        Ok(())
    }
}

/// Compares the unread count of an agent with its unread list.
fn unread(live: &Live, name: &str, audit: &mut Audit) -> Result<()> {
    let agent = live.agent(name)?;
    let query = InboxQuery {
        unread: true,
        before: None,
        limit: 1,
    };
    let listed = live.inbox(name, query)?;
    let same = listed.seqs.is_empty() == (agent.unread == 0) && agent.unread <= agent.received;
    audit.acks.expect(same, || {
        let (received, unread) = (agent.received, agent.unread);
        format!("the unread list of {name} does not have {unread} of its {received} messages")
    });
    Ok(())
}
