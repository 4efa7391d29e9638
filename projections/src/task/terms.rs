//! The postings of tasks in the search index. A posting names the event that created the task, and changes with the task.

use super::Task;
use crate::natural;
use crate::prelude::*;
use crate::terms::{TermKind, Words, post, term};

/// Series of the postings of tasks, by term.
pub(crate) const TASK_TERMS: u8 = 0x99;
/// Seq of the event that created a task; key: id, in natural order.
const CREATED: u8 = 0x6A;
/// The kind of tasks in the index.
pub(crate) const TASK_KIND: &str = "task";

impl Task {
    /// Returns the texts that the search finds.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let governed = &self.governed;
        let texts = [
            &self.subject,
            &self.details,
            &governed.result,
            &governed.error,
        ];
        texts.into_iter().filter_map(|text| text.as_deref())
    }
}

/// Notes the creator of a task, at its creation.
pub(super) fn creator(tx: &mut Tx<'_>, agent: &str, seq: u64) {
    post(tx, TASK_TERMS, (TermKind::By, agent), seq);
}

/// Replaces the postings of a task whose row was `old`.
pub(super) fn follow(tx: &mut Tx<'_>, id: &str, old: Option<&Task>, new: &Task) -> Result<()> {
    let key = key_of(CREATED, &natural::key(id));
    let Some(old) = old else {
        tx.put(&key, &new.seq);
        let kind = term(TermKind::Kind, TASK_KIND);
        tx.put(&numbered(TASK_TERMS, &kind, new.seq), &id.to_owned());
        let mut terms = fields(new);
        terms.extend(words(new));
        replace(tx, new.seq, &BTreeSet::new(), &terms);
        return Ok(());
    };
    let (mut before, mut after) = (fields(old), fields(new));
    if !old.texts().eq(new.texts()) {
        before.extend(words(old));
        after.extend(words(new));
    }
    if before == after {
        return Ok(());
    }
    let created: Option<u64> = tx.get(&key)?;
    if let Some(seq) = created {
        replace(tx, seq, &before, &after);
    }
    Ok(())
}

fn fields(task: &Task) -> BTreeSet<String> {
    let mut fields = BTreeSet::from([term(TermKind::Status, task.status.name())]);
    fields.extend(task.owner.iter().map(|owner| term(TermKind::To, owner)));
    let labels = task.governed.plan.labels.iter();
    fields.extend(labels.map(|label| term(TermKind::Label, label)));
    fields
}

fn words(task: &Task) -> BTreeSet<String> {
    let words = Words::from_texts(task.texts());
    let distinct = words.distinct().into_iter();
    distinct.map(|word| term(TermKind::Word, word)).collect()
}

fn replace(tx: &mut Tx<'_>, seq: u64, before: &BTreeSet<String>, after: &BTreeSet<String>) {
    for gone in before.difference(after) {
        tx.delete(&numbered(TASK_TERMS, gone, seq));
    }
    for new in after.difference(before) {
        tx.mark(&numbered(TASK_TERMS, new, seq));
    }
}

impl TeamState {
    /// Returns the seq of the event that created a task.
    pub fn task_created_by(&self, id: &str) -> Result<Option<u64>> {
        self.rows().get(&key_of(CREATED, &natural::key(id)))
    }

    /// Returns the id of the task that the event created.
    pub(crate) fn task_of_posting(&self, seq: u64) -> Result<Option<String>> {
        let kind = term(TermKind::Kind, TASK_KIND);
        self.rows().get(&numbered(TASK_TERMS, &kind, seq))
    }
}
