//! The events of one transaction, and the rows that they change.
//!
//! Events, messages, claims and usage follow from the events themselves. The rows of tasks come from the state of the team after the last
//! event of the batch, so no rule about tasks exists twice.

use crate::claims;
use crate::error::Result;
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::BTreeSet;
use teamlog_team::engine::{Event, Timestamp};
use teamlog_team::projections::message::event::{MessageAcked, MessageFact};
use teamlog_team::projections::tag::Content;
use teamlog_team::projections::usage::event::{UsageFact, UsageReported};
use teamlog_team::projections::{Fact, Message, RefKind, Task, TeamState};
use teamlog_team::redaction::redact;

/// An empty name, which no agent has. So `redact` removes the tokens of all claims.
const NO_AGENT: &str = "";

/// A batch of events within a transaction.
pub(crate) struct Batch<'a> {
    connection: &'a Connection,
    /// Tasks that the events changed.
    touched: BTreeSet<String>,
}

impl<'a> Batch<'a> {
    pub fn new(connection: &'a Connection) -> Batch<'a> {
        Batch {
            connection,
            touched: BTreeSet::new(),
        }
    }

    /// Stores an event, and the rows that follow from it alone.
    pub fn take(&mut self, event: &Event<'_>) -> Result<()> {
        self.store(event)?;
        if event.foreign {
            return Ok(());
        }
        match Fact::decode(event)? {
            Fact::Task(fact) => {
                claims::apply(self.connection, event, &fact.task_id, &fact.act)?;
                self.touched.insert(fact.task_id);
                Ok(())
            }
            Fact::Message(fact) => match *fact {
                MessageFact::Sent(sent) => {
                    if sent.change.is_some() {
                        self.touched.extend(sent.task_id);
                    }
                    self.sent(event)
                }
                MessageFact::Acked(acked) => self.acked(event, &acked),
                _ => Ok(()),
            },
            Fact::Usage(fact) => match *fact {
                UsageFact::Reported(reported) => self.used(event, &reported),
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn store(&self, event: &Event<'_>) -> Result<()> {
        let content = Content::from_event(event);
        let payload = redact(content.payload, NO_AGENT);
        let reference = |kind| event.refs.get(kind);
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
        )?;
        insert.execute(params![
            event.seq,
            event.id.to_string(),
            event.created_at.to_string(),
            event.kind,
            event.actor,
            reference(RefKind::Agent),
            reference(RefKind::Task),
            reference(RefKind::Message),
            reference(RefKind::Thread),
            reference(RefKind::Trace),
            reference(RefKind::Session),
            reference(RefKind::Key),
            event.refs.cause.map(|cause| cause.to_string()),
            event.foreign,
            event.schema_version,
            payload.as_deref().unwrap_or(content.payload),
        ])?;
        for tag in content.tags {
            let mut insert = self
                .connection
                .prepare_cached("INSERT OR IGNORE INTO tags VALUES (?1, ?2)")?;
            insert.execute(params![tag, event.seq])?;
        }
        Ok(())
    }

    /// Stores a message. A second message with the same id changes nothing.
    fn sent(&self, event: &Event<'_>) -> Result<()> {
        let message = Message::from_event(event)?;
        let payload = redact(message.payload.as_str(), NO_AGENT);
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO messages VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, NULL, NULL) \
             ON CONFLICT (id) DO NOTHING",
        )?;
        insert.execute(params![
            message.id,
            event.seq,
            event.created_at.to_string(),
            message.created_at.to_string(),
            message.kind.name(),
            message.from,
            message.to,
            message.priority.name(),
            message.task_id,
            message.trace_id,
            payload.as_deref().unwrap_or(message.payload.as_str()),
        ])?;
        Ok(())
    }

    /// Stores the first ack of a message by its recipient.
    fn acked(&self, event: &Event<'_>, acked: &MessageAcked) -> Result<()> {
        let mut update = self.connection.prepare_cached(
            "UPDATE messages SET acked_seq = ?3, acked_at = ?4 \
             WHERE id = ?1 AND recipient = ?2 AND acked_seq IS NULL",
        )?;
        let at = event.created_at.to_string();
        update.execute(params![acked.message_id, acked.agent, event.seq, at])?;
        Ok(())
    }

    fn used(&self, event: &Event<'_>, reported: &UsageReported) -> Result<()> {
        let mut insert = self
            .connection
            .prepare_cached("INSERT INTO usage VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
        insert.execute(params![
            event.seq,
            event.created_at.to_string(),
            reported.worker,
            reported.task_id,
            bounded(reported.input_tokens),
            bounded(reported.output_tokens),
            bounded(reported.tokens),
        ])?;
        Ok(())
    }

    /// Stores the rows of the changed tasks, as of the state after the last event. A change of a task also changes the counts of children
    /// in the tasks that are or were its parents.
    pub fn finish(self, state: &TeamState) -> Result<()> {
        let mut parents = BTreeSet::new();
        for id in &self.touched {
            parents.extend(self.stored_parent(id)?);
            match state.task(id)? {
                Some(task) => {
                    self.put(&task)?;
                    parents.extend(task.governed.plan.parent);
                }
                None => claims::forget(self.connection, id)?,
            }
        }
        for id in parents.difference(&self.touched) {
            if let Some(task) = state.task(id)? {
                self.put(&task)?;
            }
        }
        Ok(())
    }

    /// Returns the parent in the row of a task.
    fn stored_parent(&self, id: &str) -> Result<Option<String>> {
        let mut select = self
            .connection
            .prepare_cached("SELECT parent FROM tasks WHERE id = ?1")?;
        let parent = select.query_row(params![id], |row| row.get(0)).optional()?;
        Ok(parent.flatten())
    }

    fn put(&self, task: &Task) -> Result<()> {
        let json = task.to_json();
        let shown = redact(json.as_str(), NO_AGENT);
        let governed = &task.governed;
        let plan = &governed.plan;
        let time = |time: Option<Timestamp>| time.map(|time| time.to_string());
        let mut insert = self.connection.prepare_cached(
            "INSERT OR REPLACE INTO tasks VALUES \
             (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
        )?;
        insert.execute(params![
            task.task_id,
            task.subject,
            task.status.name(),
            task.priority.name(),
            task.owner,
            task.assigned_by,
            plan.parent,
            task.trace_id,
            governed.epoch,
            task.created_at.to_string(),
            task.updated_at.to_string(),
            time(governed.started_at),
            time(governed.completed_at),
            time(plan.due_at),
            time(plan.defer_until),
            task.version,
            task.seq,
            shown.as_deref().unwrap_or(json.as_str()),
        ])?;
        Ok(())
    }
}

/// Returns a count as an integer of SQLite, which has 63 bits.
fn bounded(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
