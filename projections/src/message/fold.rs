//! Messages: by id, in inboxes, unread, undelivered, and what was last sent to whom.
//!
//! Inboxes are series of seqs; the messages themselves stay in the log. An ack is a delivery too, so what is undelivered is
//! unread: the unread messages are the undelivered ones and those that were delivered and wait for their ack.

use crate::error::Result;
use crate::fact::{Fact, MessageAcked, Sent};
use crate::message::MessageType;
use crate::message::event::MailFact;
use crate::message::{dispatch, marks, unread, view};
use crate::tx::{Projection, Recorded, Rows, Tx, end_of, key_of, numbered, row};
use teamlog_engine::derived::key;
use teamlog_engine::{Event, Timestamp};

/// By message id.
pub(super) const MESSAGE: u8 = 0x20;
/// By agent.
const AGENT: u8 = 0x21;
/// By recipient, task and type: what was last sent.
const LAST_SENT: u8 = 0x22;
/// By message id: what became of it beside its ack.
pub(super) const MARKS: u8 = 0x23;
/// By id of a dispatch request.
pub(super) const DISPATCH: u8 = 0x24;
/// By id: that the request is open.
pub(super) const OPEN_DISPATCH: u8 = 0x26;
/// By agent: how many of its messages are delivered, how many requests to tell it are open.
pub(super) const MAIL_COUNTS: u8 = 0x25;
/// Series by agent: every message.
const INBOX: u8 = 0x80;
/// Series by agent: messages that are not delivered, and hence not acknowledged.
pub(super) const UNDELIVERED: u8 = 0x81;
/// One series: messages of all agents that are not acknowledged, so that the oldest are found at its front.
pub(super) const UNACKED: u8 = 0x82;
/// Series by agent: messages that are delivered and not acknowledged.
pub(super) const DELIVERED: u8 = 0x83;
/// Series by digest of sender, recipient and body: plain mail that is not delivered.
pub(super) const SAME: u8 = 0x84;

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

/// Some events, oldest first, and whether older ones remain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeqPage {
    /// Their seqs, ascending.
    pub seqs: Vec<u64>,
    /// Whether there are older ones.
    pub older: bool,
}

#[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub(super) struct MessageRow {
    pub seq: u64,
    pub acked: u64,
    pub kind: u8,
    pub to: String,
    pub task_id: Option<String>,
    pub trace_id: Option<String>,
}
row!(MessageRow);

#[derive(Default, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
struct AgentRow {
    received: u64,
    unread: u64,
    wakeups: u64,
    view_bytes: u64,
    last_seq: u64,
}
row!(AgentRow);

#[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub(super) struct LastSentRow {
    pub seq: u64,
    pub at: i64,
}
row!(LastSentRow);

#[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub(super) struct UnackedRow {
    pub at: i64,
    pub id: String,
    pub to: String,
}
row!(UnackedRow);

/// The fold. A message id counts once and an ack counts once, whatever the log holds.
#[derive(Debug, Clone, Copy)]
pub struct MessagesProjection;

impl Projection for MessagesProjection {
    fn name(&self) -> &'static str {
        "messages"
    }
    fn version(&self) -> u32 {
        4
    }
    fn apply(&self, tx: &mut Tx<'_>, recorded: Recorded<'_>) -> Result<()> {
        let event = recorded.event;
        match recorded.fact {
            Fact::MessageSent(sent) => receive(tx, event, sent),
            Fact::MessageAcked(acked) => acknowledge(tx, event, acked),
            Fact::WakeUpWithheld(to) => unread::withhold(tx, event, to),
            Fact::Mail(fact) => match &**fact {
                MailFact::Marked(marked) => marks::mark(tx, event, marked),
                MailFact::Requested(request) => dispatch::request(tx, event, request),
                MailFact::Moved(moved) => dispatch::step(tx, event, moved),
            },
            _ => Ok(()),
        }
    }
}

fn receive(tx: &mut Tx<'_>, event: &Event<'_>, sent: &Sent) -> Result<()> {
    let key = key_of(MESSAGE, sent.id.as_bytes());
    if tx.has(&key)? {
        return Ok(());
    }
    let at = event.created_at.micros();
    let message = MessageRow {
        seq: event.seq,
        acked: 0,
        kind: sent.kind as u8,
        to: sent.to.clone(),
        task_id: sent.task_id.clone(),
        trace_id: sent.trace_id.clone(),
    };
    tx.put(&key, &message);
    let agent_key = key_of(AGENT, sent.to.as_bytes());
    let mut agent: AgentRow = tx.get(&agent_key)?.unwrap_or_default();
    agent.received += 1;
    agent.unread += 1;
    agent.wakeups += u64::from(sent.kind == MessageType::AgentWakeupRequired);
    agent.view_bytes += view::line_bytes(event, sent.envelope.len(), &sent.from);
    agent.last_seq = event.seq;
    tx.put(&agent_key, &agent);
    tx.put(
        &cooldown_key(&sent.to, sent.task_id.as_deref(), sent.kind),
        &LastSentRow {
            seq: event.seq,
            // The event's own time may lie ahead of when it was recorded: the log's times never go back.
            at: sent.sent_at.micros().min(at),
        },
    );
    tx.mark(&numbered(INBOX, &sent.to, event.seq));
    tx.mark(&numbered(UNDELIVERED, &sent.to, event.seq));
    let unacked = UnackedRow {
        at,
        id: sent.id.clone(),
        to: sent.to.clone(),
    };
    tx.put(&numbered(UNACKED, "", event.seq), &unacked);
    if let Some(body) = &sent.body {
        marks::note_same(tx, event, sent, body);
    }
    Ok(())
}

fn acknowledge(tx: &mut Tx<'_>, event: &Event<'_>, acked: &MessageAcked) -> Result<()> {
    let key = key_of(MESSAGE, acked.message_id.as_bytes());
    let Some(mut message) = tx.get::<MessageRow>(&key)? else {
        return Ok(());
    };
    if message.acked != 0 || message.to != acked.agent {
        return Ok(());
    }
    message.acked = event.seq;
    tx.put(&key, &message);
    let agent_key = key_of(AGENT, message.to.as_bytes());
    let mut agent: AgentRow = tx.get(&agent_key)?.unwrap_or_default();
    agent.unread = agent.unread.saturating_sub(1);
    if message.kind == MessageType::AgentWakeupRequired as u8 {
        agent.wakeups = agent.wakeups.saturating_sub(1);
    }
    tx.put(&agent_key, &agent);
    tx.delete(&numbered(UNACKED, "", message.seq));
    marks::acknowledged(tx, event, &acked.message_id, &message)
}

/// The key of the cooldown: `to::task-or-dash::type`.
pub(super) fn cooldown_key(to: &str, task_id: Option<&str>, kind: MessageType) -> Vec<u8> {
    let parts = [to, "::", task_id.unwrap_or("-"), "::", kind.name()];
    key_of(LAST_SENT, parts.concat().as_bytes())
}

pub(crate) fn time(micros: i64) -> Timestamp {
    Timestamp::from_micros(micros).unwrap_or_default()
}

pub(crate) fn message(rows: Rows<'_>, id: &str) -> Result<Option<MessageInfo>> {
    let row: Option<MessageRow> = rows.get(&key_of(MESSAGE, id.as_bytes()))?;
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

pub(crate) fn agent(rows: Rows<'_>, name: &str) -> Result<AgentInfo> {
    let row: Option<AgentRow> = rows.get(&key_of(AGENT, name.as_bytes()))?;
    Ok(agent_info(name.to_owned(), row.unwrap_or_default()))
}

pub(crate) fn agents(rows: Rows<'_>) -> Result<Vec<AgentInfo>> {
    rows.prefix(&[AGENT], false)
        .map(|entry| {
            let entry = entry?;
            Ok(agent_info(
                String::from_utf8_lossy(entry.behind(1)).into_owned(),
                entry.row()?,
            ))
        })
        .collect()
}

pub(crate) fn inbox(rows: Rows<'_>, agent: &str, query: InboxQuery) -> Result<SeqPage> {
    if !query.unread {
        let inbox = key::series(INBOX, agent.as_bytes());
        return page(rows, &inbox, query.before, query.limit);
    }
    let mut unread = undelivered(rows, agent, query.before, query.limit)?;
    let delivered = key::series(DELIVERED, agent.as_bytes());
    let delivered = page(rows, &delivered, query.before, query.limit)?;
    unread.seqs.extend(delivered.seqs);
    unread.seqs.sort_unstable();
    let surplus = unread.seqs.len().saturating_sub(query.limit);
    unread.seqs.drain(..surplus);
    unread.older |= delivered.older || surplus > 0;
    Ok(unread)
}

/// The newest `limit` messages of an inbox before `before` that are not delivered.
pub(crate) fn undelivered(
    rows: Rows<'_>,
    agent: &str,
    before: Option<u64>,
    limit: usize,
) -> Result<SeqPage> {
    let series = key::series(UNDELIVERED, agent.as_bytes());
    page(rows, &series, before, limit)
}

/// How many messages are listed as unread of an agent.
pub(crate) fn unread_count(rows: Rows<'_>, agent: &str) -> Result<u64> {
    let mut count = 0;
    for series in [UNDELIVERED, DELIVERED] {
        for entry in rows.prefix(&key::series(series, agent.as_bytes()), false) {
            entry?;
            count += 1;
        }
    }
    Ok(count)
}

/// Every message of an inbox, oldest first.
pub(crate) fn inbox_seqs<'a>(
    rows: Rows<'a>,
    agent: &str,
) -> impl Iterator<Item = Result<u64>> + use<'a> {
    rows.prefix(&key::series(INBOX, agent.as_bytes()), false)
        .map(|entry| Ok(entry?.seq()))
}

/// The newest `limit` numbers of a series before `before`, ascending.
pub(crate) fn page(
    rows: Rows<'_>,
    series: &[u8],
    before: Option<u64>,
    limit: usize,
) -> Result<SeqPage> {
    let end = match before {
        None => end_of(series),
        Some(seq) => [series, &seq.to_be_bytes()].concat(),
    };
    let mut page = SeqPage::default();
    for entry in rows.walk(series, &end, true) {
        let seq = entry?.seq();
        if page.seqs.len() == limit {
            page.older = true;
            break;
        }
        page.seqs.push(seq);
    }
    page.seqs.reverse();
    Ok(page)
}

pub(crate) fn last_sent(
    rows: Rows<'_>,
    to: &str,
    task_id: Option<&str>,
    kind: MessageType,
) -> Result<Option<LastSent>> {
    let row: Option<LastSentRow> = rows.get(&cooldown_key(to, task_id, kind))?;
    Ok(row.map(|row| LastSent {
        seq: row.seq,
        at: time(row.at),
    }))
}

pub(crate) fn unacked(rows: Rows<'_>, before: Timestamp, limit: usize) -> Result<Vec<Unacked>> {
    let mut found = Vec::new();
    for entry in rows.prefix(&key::series(UNACKED, b""), false).take(limit) {
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
