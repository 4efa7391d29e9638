//! Open questions: messages that ask another agent for a decision. A later message from the asked agent to the asker answers a
//! question. A question about a task is answered by a message about that task. Task reports and idle notices answer nothing, and
//! an ack only shows that the question was read.

use super::MessageType;
use crate::prelude::*;

/// Namespace of open questions; key: asked agent.
const QUESTIONS: u8 = 0x27;
/// Namespace of asked agents; key: asking agent.
const ASKED: u8 = 0x28;
/// Maximum number of open questions stored per agent; the oldest are dropped.
const KEPT_MAX: usize = 64;

/// An unanswered question.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct Question {
    /// Event that recorded the question.
    pub seq: u64,
    /// Time of recording.
    pub at: Timestamp,
    /// Id of the message.
    pub message_id: String,
    /// Asking agent.
    pub from: String,
    /// Asked agent.
    pub to: String,
    /// Task of the question, if any.
    pub task_id: Option<String>,
}

#[derive(Default, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
struct Questions {
    /// Open questions, oldest first.
    open: Vec<Question>,
}
row!(Questions);

/// The agents that an agent asked.
#[derive(Default, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
struct Asked {
    agents: Vec<String>,
}
row!(Asked);

/// Folds a message: a question, an answer, or neither.
pub(super) fn receive(tx: &mut Tx<'_>, event: &Event<'_>, sent: &MessageSent) -> Result<()> {
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
    note_asked(tx, &sent.from, &sent.to)?;
    tx.change(&key(&sent.to), |questions: &mut Questions| {
        questions.open.push(question);
        let surplus = questions.open.len().saturating_sub(KEPT_MAX);
        questions.open.drain(..surplus);
    })
}

/// Notes that an agent asked another agent.
fn note_asked(tx: &mut Tx<'_>, from: &str, to: &str) -> Result<()> {
    tx.change(&key_of(ASKED, from.as_bytes()), |asked: &mut Asked| {
        if !asked.agents.iter().any(|agent| agent == to) {
            asked.agents.push(to.to_owned());
        }
    })
}

/// Hands the open questions from and to an agent over to its new name.
pub(super) fn rename(tx: &mut Tx<'_>, old: &str, new: &str) -> Result<()> {
    if let Some(mut questions) = tx.get::<Questions>(&key(old))? {
        for question in &mut questions.open {
            new.clone_into(&mut question.to);
            note_asked(tx, &question.from, new)?;
        }
        tx.delete(&key(old));
        tx.change(&key(new), |present: &mut Questions| {
            present.open.append(&mut questions.open);
            present.open.sort_unstable_by_key(|question| question.seq);
        })?;
    }
    let asked_key = key_of(ASKED, old.as_bytes());
    let Some(asked) = tx.get::<Asked>(&asked_key)? else {
        return Ok(());
    };
    for agent in &asked.agents {
        let Some(mut questions) = tx.get::<Questions>(&key(agent))? else {
            continue;
        };
        for question in questions.open.iter_mut().filter(|one| one.from == old) {
            new.clone_into(&mut question.from);
        }
        tx.put(&key(agent), &questions);
    }
    tx.delete(&asked_key);
    tx.change(&key_of(ASKED, new.as_bytes()), |present: &mut Asked| {
        present.agents.extend(asked.agents);
        present.agents.sort_unstable();
        present.agents.dedup();
    })
}

/// Closes the questions that a message answers.
fn answer(tx: &mut Tx<'_>, sent: &MessageSent) -> Result<()> {
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
    /// Returns the open questions, ordered by asked agent and age.
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
