//! Messages by which an agent asks another one for a decision, until they are answered. A later message from the asked agent to
//! the asker answers; a question about a task is answered by a message about that task. Reports on tasks and notices of an
//! idle agent answer nothing, and an ack only says that the question was read.

use super::MessageType;
use crate::prelude::*;

/// By the asked agent: the questions that are open.
const QUESTIONS: u8 = 0x27;
/// Open questions to one agent that are kept, the newest.
const KEPT_MAX: usize = 64;

/// A question without an answer.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct Question {
    /// The event that recorded it.
    pub seq: u64,
    /// When it was recorded.
    pub at: Timestamp,
    /// The message.
    pub message_id: String,
    /// The agent that asks.
    pub from: String,
    /// The agent that is asked.
    pub to: String,
    /// The task concerned.
    pub task_id: Option<String>,
}

#[derive(Default, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
struct Questions {
    /// Oldest first.
    open: Vec<Question>,
}
row!(Questions);

/// Notes a message that was received: a question, an answer to some, or neither.
pub(super) fn receive(tx: &mut Tx<'_>, event: &Event<'_>, sent: &Sent) -> Result<()> {
    answer(tx, sent)?;
    if sent.kind != MessageType::DecisionRequired {
        return Ok(());
    }
    let question = Question {
        seq: event.seq,
        at: event.created_at,
        message_id: sent.id.clone(),
        from: sent.from.clone(),
        to: sent.to.clone(),
        task_id: sent.task_id.clone(),
    };
    tx.change(&key(&sent.to), |questions: &mut Questions| {
        questions.open.push(question);
        let surplus = questions.open.len().saturating_sub(KEPT_MAX);
        questions.open.drain(..surplus);
    })
}

/// Closes the questions that a message answers.
fn answer(tx: &mut Tx<'_>, sent: &Sent) -> Result<()> {
    if matches!(
        sent.kind,
        MessageType::TaskUpdate | MessageType::IdleNotification
    ) {
        return Ok(());
    }
    let Some(mut questions) = tx.get::<Questions>(&key(&sent.from))? else {
        return Ok(());
    };
    let is_answered = |question: &Question| {
        let same_task = question.task_id.is_none() || question.task_id == sent.task_id;
        question.from == sent.to && same_task
    };
    questions.open.retain(|question| !is_answered(question));
    match questions.open.is_empty() {
        true => tx.delete(&key(&sent.from)),
        false => tx.put(&key(&sent.from), &questions),
    }
    Ok(())
}

impl TeamState {
    /// Questions without an answer, by the asked agent, then by age.
    pub fn open_questions(&self, limit: usize) -> Result<Vec<Question>> {
        let mut found = Vec::new();
        for entry in self.rows().prefix(&[QUESTIONS], false) {
            found.extend(entry?.row::<Questions>()?.open);
            if found.len() >= limit {
                found.truncate(limit);
                break;
            }
        }
        Ok(found)
    }
}

fn key(asked: &str) -> Vec<u8> {
    key_of(QUESTIONS, asked.as_bytes())
}
