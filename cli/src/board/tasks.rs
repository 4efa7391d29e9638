//! Tasks of the board, grouped by status. The user can collapse a status. Completed and canceled tasks start collapsed.

use super::cursor::Cursor;
use super::load::WaitsInVain;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use teamlog_team::projections::Task;
use teamlog_team::projections::task::Status;

const ORDER: [Status; 7] = [
    Status::InProgress,
    Status::Blocked,
    Status::Assigned,
    Status::Pending,
    Status::Failed,
    Status::Completed,
    Status::Canceled,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Row {
    /// Heading of a status, with the number of its tasks that pass the filter.
    Group(Status, usize),
    /// A task, as an index into the list of tasks.
    Task(usize),
}

/// All tasks, and the visible rows.
#[derive(Debug)]
pub struct Tasks {
    all: Vec<Task>,
    in_vain: WaitsInVain,
    rows: Vec<Row>,
    folded: BTreeSet<Status>,
    filtered: bool,
    pub cursor: Cursor,
}

impl Default for Tasks {
    fn default() -> Tasks {
        Tasks {
            all: Vec::new(),
            in_vain: BTreeMap::new(),
            rows: Vec::new(),
            folded: BTreeSet::from([Status::Completed, Status::Canceled]),
            filtered: false,
            cursor: Cursor::default(),
        }
    }
}

impl Tasks {
    pub fn take(&mut self, mut all: Vec<Task>, in_vain: WaitsInVain, filter: &str) {
        let chosen = self.task(self.cursor.row).map(|task| task.task_id.clone());
        all.sort_by_key(|task| Reverse(task.priority as u8));
        (self.all, self.in_vain) = (all, in_vain);
        self.choose_of(chosen, filter);
    }

    /// Applies a filter. The selected task stays selected.
    pub fn choose(&mut self, filter: &str) {
        let chosen = self.task(self.cursor.row).map(|task| task.task_id.clone());
        self.choose_of(chosen, filter);
    }

    fn choose_of(&mut self, chosen: Option<String>, filter: &str) {
        self.filtered = !filter.is_empty();
        let mut groups: BTreeMap<Status, Vec<usize>> = BTreeMap::new();
        for (place, task) in self.all.iter().enumerate() {
            if passes(task, filter) {
                groups.entry(task.status).or_default().push(place);
            }
        }
        self.rows.clear();
        for status in ORDER {
            let Some(places) = groups.remove(&status) else {
                continue;
            };
            self.rows.push(Row::Group(status, places.len()));
            if !self.is_folded(status) {
                self.rows.extend(places.into_iter().map(Row::Task));
            }
        }
        let row = chosen.and_then(|id| {
            let mut rows = self.rows.iter();
            rows.position(|row| matches!(row, Row::Task(place) if self.all[*place].task_id == id))
        });
        self.cursor.row = row.unwrap_or(self.cursor.row);
    }

    /// Returns true if the tasks of a status are collapsed. With a filter, no status is collapsed.
    pub fn is_folded(&self, status: Status) -> bool {
        !self.filtered && self.folded.contains(&status)
    }

    /// Collapses a status, or expands a collapsed status.
    pub fn fold(&mut self, status: Status, filter: &str) {
        if !self.folded.remove(&status) {
            self.folded.insert(status);
        }
        self.choose(filter);
    }

    pub fn count(&self) -> usize {
        self.all.len()
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn row(&self, row: usize) -> Option<Row> {
        self.rows.get(row).copied()
    }

    pub fn task(&self, row: usize) -> Option<&Task> {
        match self.rows.get(row)? {
            Row::Task(place) => self.all.get(*place),
            Row::Group(..) => None,
        }
    }

    pub fn at(&self, place: usize) -> Option<&Task> {
        self.all.get(place)
    }

    pub fn of_id(&self, id: &str) -> Option<&Task> {
        self.all.iter().find(|task| task.task_id == id)
    }

    pub fn in_vain(&self, id: &str) -> &[String] {
        self.in_vain.get(id).map_or(&[], Vec::as_slice)
    }
}

fn passes(task: &Task, filter: &str) -> bool {
    let texts = [&task.owner, &task.subject, &task.note, &task.trace_id];
    let texts = texts.into_iter().flatten().map(String::as_str);
    let known = [task.task_id.as_str(), task.status.name()];
    filter.is_empty() || super::state::any_has(texts.chain(known), filter)
}
