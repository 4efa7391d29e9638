//! Changes of the status of tasks, event by event. The changes are found by a fold of the log from its first event on, with the
//! tasks in memory.

use crate::prelude::*;
use crate::task::{self, Status};
use std::collections::HashMap;
use teamlog_engine::internals::derived::{Changes, Value};

/// A change of a task's status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition {
    /// Id of the task.
    pub task_id: String,
    /// Status before the event; absent for a new task.
    pub old: Option<Status>,
    /// Status after the event.
    pub new: Status,
}

/// The state of all tasks after the events seen so far.
#[derive(Debug, Default)]
pub struct Transitions {
    rows: Rows,
}

impl Transitions {
    /// Folds the next event of the log. Returns the change of a status, if the event makes one.
    pub fn next(&mut self, event: &Event<'_>) -> Result<Option<Transition>> {
        if event.foreign {
            return Ok(None);
        }
        let fact = Fact::decode(event)?;
        let task_id = match &fact {
            Fact::Task(task) => Some(&task.task_id),
            fact => fact.sent().and_then(|sent| sent.task_id.as_ref()),
        };
        let Some(task_id) = task_id.cloned() else {
            return Ok(None);
        };
        let mut tx = Tx::new(&mut self.rows);
        let old = task::status_in(&tx, &task_id)?;
        let recorded = Recorded { event, fact: &fact };
        task::apply(&mut tx, recorded)?;
        let new = task::status_in(&tx, &task_id)?;
        Ok(new
            .filter(|new| old != Some(*new))
            .map(|new| Transition { task_id, old, new }))
    }
}

/// Rows in memory.
#[derive(Debug, Default)]
struct Rows(HashMap<Vec<u8>, Vec<u8>>);

impl Changes for Rows {
    fn get(&self, key: &[u8]) -> teamlog_engine::Result<Option<Value<'_>>> {
        Ok(self.0.get(key).map(|value| Value::Changed(value)))
    }
    fn put(&mut self, key: &[u8], value: &[u8]) {
        self.0.insert(key.to_owned(), value.to_owned());
    }
    fn delete(&mut self, key: &[u8]) {
        self.0.remove(key);
    }
}
