//! A sample of the events held against the index, the state and the view files: what a quick check looks at. Its cost grows
//! with the sample, not with the history.

use super::{Audit, in_inbox, indexed};
use crate::event::message::MessageFact;
use crate::live::Live;
use crate::message::InboxQuery;
use crate::prelude::*;

/// What a sample showed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sample {
    /// How many events were looked up.
    pub events: u64,
    /// The state held against them.
    pub audit: Audit,
    /// Their recipients.
    pub agents: BTreeSet<String>,
    /// Their tasks.
    pub tasks: BTreeSet<String>,
}

/// Looks up about `size` events, spread over the whole log, the last one among them: read by their places, checked by their
/// checksums, and held against everything that is stored of them.
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
                "where the index says event {seq}, event {} stands",
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
                    format!("event {seq} acknowledges {id}, but the index does not say so")
                });
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn sent(&mut self, live: &Live, seq: u64, sent: &Sent) -> Result<()> {
        if let (Some(id), Some(_)) = (&sent.task_id, &sent.change) {
            let task = live.task(id)?;
            let newest = task.map(|task| (task.last_message_created_at, task.last_message_id));
            let behind = newest.is_none_or(|newest| newest < (sent.created_at, sent.id.clone()));
            self.audit.snapshots.expect(!behind, || {
                format!(
                    "the snapshot of task {id} is behind its message {}",
                    sent.id
                )
            });
            self.tasks.insert(id.clone());
        }
        let known = live.message(&sent.id)?;
        let known = known.filter(|known| known.seq <= seq && known.to == sent.to);
        self.audit.inbox.expect(known.is_some(), || {
            format!("the index does not know message {} of event {seq}", sent.id)
        });
        // An id that the log holds twice counts once, by its first event.
        if let Some(known) = known.filter(|known| known.seq == seq) {
            let inbox = &mut self.audit.inbox;
            in_inbox(live, (seq, sent), known.acked.is_none(), inbox)?;
            self.agents.insert(sent.to.clone());
        }
        Ok(())
    }
}

/// The unread count of an agent beside its unread list.
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
        format!("{name} has {received} messages, {unread} of them unread, which its list is not")
    });
    Ok(())
}
