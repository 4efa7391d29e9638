//! Audit: compares messages, acks, tasks and index of the state with the log, in one pass over the log that shares no code with
//! the folds.
//!
//! The audit counts every message and ack. The audit looks up a sample of all events in every index. The audit changes nothing.

mod sample;

pub use sample::{Sample, sample};

use crate::event::message::{MessageAcked, MessageFact};
use crate::files::Home;
use crate::live::Live;
use crate::message::{self, InboxQuery};
use crate::prelude::*;
use std::ops::ControlFlow;
use teamlog_engine::internals::reader::LocatedFrame;

/// Largest number of faults of each kind that are reported.
const FAULTS_MAX: usize = 20;

/// Result of one part of the audit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Finding {
    /// Number of checked items.
    pub checked: u64,
    /// Descriptions of faults, at most 20.
    pub faults: Vec<String>,
    /// Number of further faults, which are not listed.
    pub omitted: u64,
}

impl Finding {
    fn fault(&mut self, what: impl FnOnce() -> String) {
        match self.faults.len() < FAULTS_MAX {
            true => self.faults.push(what()),
            false => self.omitted += 1,
        }
    }
    fn expect(&mut self, holds: bool, otherwise: impl FnOnce() -> String) {
        self.checked += 1;
        if !holds {
            self.fault(otherwise);
        }
    }
}

/// Result of an audit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Audit {
    /// Result of comparing a sample of events with the index: their places and their refs.
    pub index: Finding,
    /// Result of comparing the message index with inboxes and inbox views, for a sample of messages.
    pub inbox: Finding,
    /// Result of comparing all acks and all unread counts with the log.
    pub acks: Finding,
    /// Result of comparing every task snapshot with the newest message of its task.
    pub snapshots: Finding,
}

/// The largest `(created_at, id)` of a task's messages.
type Newest = (Timestamp, String);

/// Checks place and refs of an event in the index.
fn indexed(live: &Live, event: &Event<'_>, place: Place, index: &mut Finding) -> Result<()> {
    let known = live.place(event.seq)?;
    index.expect(known == Some(place), || {
        format!("event {} is not at its place in the index", event.seq)
    });
    for kind in RefKind::ALL {
        let Some(value) = event.refs.get(kind) else {
            continue;
        };
        let page = live.with_ref(kind, value, Some(event.seq + 1), 1)?;
        index.expect(page.seqs == [event.seq], || {
            let kind = kind.name();
            format!(
                "the index does not find event {} by its {kind} {value:?}",
                event.seq
            )
        });
    }
    Ok(())
}

/// Checks that a message is in its recipient's inbox, and that an unread message is listed as unread.
fn in_inbox(
    live: &Live,
    (seq, sent): (u64, &MessageSent),
    unread: bool,
    inbox: &mut Finding,
) -> Result<()> {
    let listed = |unread| {
        let query = InboxQuery {
            unread,
            before: Some(seq + 1),
            limit: 1,
        };
        Ok::<_, crate::Error>(live.inbox(&sent.to, query)?.seqs == [seq])
    };
    let (all, open) = (listed(false)?, listed(true)?);
    inbox.expect(all, || {
        format!("message {} is not in the inbox of {}", sent.id, sent.to)
    });
    inbox.expect(open == unread, || {
        let not = if open { "" } else { "not " };
        format!(
            "message {} is wrongly {not}listed as unread for {}",
            sent.id, sent.to
        )
    });
    Ok(())
}

/// Totals of the log for one agent.
#[derive(Default)]
struct Mail {
    received: u64,
    acked: u64,
    /// Size of the inbox view so far.
    bytes: u64,
}

struct Pass<'a> {
    live: &'a Live,
    home: Home,
    /// Last event that inbox views contain; 0 if inbox views are not checked.
    views_upto: u64,
    line: Vec<u8>,
    stride: u64,
    messages: u64,
    message_stride: u64,
    audit: Audit,
    tasks: BTreeMap<String, Newest>,
    mail: BTreeMap<String, Mail>,
}

/// Compares `live` with the log. Looks up about `sample` events and about `sample` messages; 0 means all. Checks inbox views up
/// to the event `views_upto`.
pub fn audit(live: &Live, reader: &Reader, sample: u64, views_upto: u64) -> Result<Audit> {
    let counts = live.counts()?;
    let stride = |all: u64| match sample {
        0 => 1,
        sample => all.div_ceil(sample).max(1),
    };
    let mut pass = Pass {
        live,
        home: Home::from_reader(reader),
        views_upto,
        line: Vec::new(),
        stride: stride(counts.events),
        messages: 0,
        message_stride: stride(counts.messages),
        audit: Audit::default(),
        tasks: BTreeMap::new(),
        mail: BTreeMap::new(),
    };
    reader.each(None, |located| {
        if located.frame.event.seq > live.seq() {
            return Ok(ControlFlow::Break(()));
        }
        pass.take(located)?;
        Ok::<_, crate::Error>(ControlFlow::Continue(()))
    })?;
    pass.totals()?;
    Ok(pass.audit)
}

impl Pass<'_> {
    fn take(&mut self, located: &LocatedFrame<'_>) -> Result<()> {
        let event = &located.frame.event;
        if event.seq == self.live.seq() || event.seq.is_multiple_of(self.stride) {
            self.index(located)?;
        }
        if event.foreign {
            return Ok(());
        }
        let Fact::Message(fact) = Fact::decode(event)? else {
            return Ok(());
        };
        match *fact {
            MessageFact::Sent(sent) => self.sent(event, &sent),
            MessageFact::Acked(acked) => self.acked(event.seq, acked),
            _ => Ok(()),
        }
    }

    fn acked(&mut self, seq: u64, acked: MessageAcked) -> Result<()> {
        let known = self.live.message(&acked.message_id)?;
        let known = known.filter(|known| known.to == acked.agent && known.seq < seq);
        let Some(known) = known else {
            return Ok(());
        };
        // The index has the first ack, which is this event or an earlier event.
        let noted = known.acked.is_some_and(|first| first <= seq);
        self.audit.acks.expect(noted, || {
            let says = match known.acked {
                Some(first) => format!("the ack {first}"),
                None => "no ack".to_owned(),
            };
            let id = &acked.message_id;
            format!("event {seq} acknowledges {id}, but the index has {says}")
        });
        if known.acked == Some(seq) {
            self.mail.entry(acked.agent).or_default().acked += 1;
        }
        Ok(())
    }

    fn index(&mut self, located: &LocatedFrame<'_>) -> Result<()> {
        let event = &located.frame.event;
        indexed(self.live, event, located.place, &mut self.audit.index)
    }

    fn sent(&mut self, event: &Event<'_>, sent: &MessageSent) -> Result<()> {
        if let (Some(task), Some(_)) = (&sent.task_id, &sent.change) {
            let newest = (sent.created_at, sent.id.clone());
            let known = self.tasks.entry(task.clone()).or_default();
            if *known < newest {
                *known = newest;
            }
        }
        let known = self.live.message(&sent.id)?;
        let counts = known.as_ref().is_some_and(|known| known.seq == event.seq);
        let mut at = 0;
        if counts {
            let mail = self.mail.entry(sent.to.clone()).or_default();
            at = mail.bytes;
            mail.received += 1;
            mail.bytes += message::view::line_bytes(event, sent.envelope.len(), &sent.from);
        }
        self.messages += 1;
        if !self.messages.is_multiple_of(self.message_stride) {
            return Ok(());
        }
        // If the log has two messages with one id, the index has the first message.
        let indexed = known
            .as_ref()
            .is_some_and(|known| known.seq <= event.seq && known.to == sent.to);
        self.audit.inbox.expect(indexed, || {
            let says = match &known {
                Some(known) => format!("event {} to {}", known.seq, known.to),
                None => "no such message".to_owned(),
            };
            format!(
                "event {} records message {} to {}, but the index has {says}",
                event.seq, sent.id, sent.to
            )
        });
        match known.filter(|_| counts) {
            Some(known) => self.inbox(event, sent, known.acked.is_none(), at),
            None => Ok(()),
        }
    }

    /// Checks that a message is in its recipient's inbox, both in the index and at its position in the view file.
    fn inbox(
        &mut self,
        event: &Event<'_>,
        sent: &MessageSent,
        unread: bool,
        at: u64,
    ) -> Result<()> {
        let inbox = &mut self.audit.inbox;
        in_inbox(self.live, (event.seq, sent), unread, inbox)?;
        if event.seq > self.views_upto {
            return Ok(());
        }
        self.line.clear();
        message::view::line(event, sent.envelope(event), &sent.from, &mut self.line);
        let same = message::view::line_is(&self.home, &sent.to, at, &self.line)?;
        inbox.expect(same, || {
            let (to, id) = (&sent.to, &sent.id);
            format!("message {id} in inboxes/{to}.jsonl differs from the log")
        });
        Ok(())
    }

    /// Compares the totals of the log with the state, after the pass over the log.
    fn totals(&mut self) -> Result<()> {
        for agent in self.live.agents()? {
            let mail = self.mail.remove(&agent.name).unwrap_or_default();
            let unread = mail.received.saturating_sub(mail.acked);
            let (acks, name) = (&mut self.audit.acks, &agent.name);
            let same = (agent.received, agent.unread) == (mail.received, unread);
            acks.expect(same, || {
                format!(
                    "{name} has {} messages, {unread} of them unread, but the index counts {} and {}",
                    mail.received, agent.received, agent.unread
                )
            });
            let listed = self.live.unread_count(name)?;
            acks.expect(listed == unread, || {
                format!("the unread list of {name} has {listed} messages instead of {unread}")
            });
        }
        for (agent, mail) in &self.mail {
            let received = mail.received;
            self.audit.acks.expect(received == 0, || {
                format!("the index has none of the {received} messages of {agent}")
            });
        }
        for (id, newest) in &self.tasks {
            let task = self.live.task(id)?;
            let at = task.map(|task| (task.last_message_created_at, task.last_message_id));
            self.audit
                .snapshots
                .expect(at.as_ref() == Some(newest), || {
                    let missing = || "is missing".to_owned();
                    let last = |(_, id): &(Timestamp, String)| format!("ends with {id}");
                    let snapshot = at.as_ref().map_or_else(missing, last);
                    let newest = &newest.1;
                    format!(
                        "the newest message of task {id} is {newest}, but the snapshot {snapshot}"
                    )
                });
        }
        Ok(())
    }
}
