//! Sort orders of task lists, and the cursors of their pages.
//!
//! The index has tasks by id, by status and by owner, in natural order of ids. All other orders, and `since`, read every
//! task that passes the filters and keep one page of these tasks in memory.

use crate::operation::prelude::*;
use crate::projections::natural;
use crate::projections::task::TaskPage;

words! {
    /// Sort key of tasks
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum TaskSort {
        /// By their ids, in natural order
        #[default]
        Id = "id",
        /// By the last event that changed the task; newest first by default
        Updated = "updated",
        /// By priority; most urgent first by default
        Priority = "priority",
        /// By their status, in the order of a task's life
        Status = "status",
    }
}

words! {
    /// Sort order
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum SortOrder {
        /// Lowest first
        Asc = "asc",
        /// Highest first
        Desc = "desc",
    }
}

/// Number of tasks that are read at a time.
const READ: usize = 1_024;

/// Sort order of a task list. Tasks with equal keys are in natural order of ids.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sorting {
    pub sort: TaskSort,
    pub order: SortOrder,
    /// Only tasks that an event after this seq changed.
    pub since: Option<u64>,
}

type Place = (u64, Vec<u8>);

impl Sorting {
    pub fn new(sort: Option<TaskSort>, order: Option<SortOrder>, since: Option<u64>) -> Sorting {
        let sort = sort.unwrap_or_default();
        let by_default = match sort {
            TaskSort::Id | TaskSort::Status => SortOrder::Asc,
            TaskSort::Updated | TaskSort::Priority => SortOrder::Desc,
        };
        let order = order.unwrap_or(by_default);
        Sorting { sort, order, since }
    }

    /// Returns true if the index has this order.
    fn is_indexed(self) -> bool {
        self.sort == TaskSort::Id && self.order == SortOrder::Asc && self.since.is_none()
    }

    pub fn page(
        self,
        live: &Live,
        filter: &TaskFilter,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<TaskPage> {
        let behind = cursor.map(|cursor| self.behind(live, cursor)).transpose()?;
        match (self.is_indexed(), self.sort, self.since) {
            (true, ..) => Ok(live.tasks(filter, cursor, limit)?),
            (_, TaskSort::Status, None) => self.by_status(live, filter, behind, limit),
            _ => self.scanned(live, filter, behind.as_ref(), limit),
        }
    }

    /// Returns the cursor for the page that begins after a task.
    pub fn cursor(self, task: &Task) -> String {
        match self.sort {
            TaskSort::Id => task.task_id.clone(),
            _ => format!("{}.{}", self.key(task), task.task_id),
        }
    }

    /// Returns the position of a cursor. The task in the cursor must exist; the task's sort key can differ from the key in the
    /// cursor.
    fn behind(self, live: &Live, cursor: &str) -> Result<Place> {
        let (key, id) = match self.sort {
            TaskSort::Id => (Some(0), cursor),
            _ => match cursor.split_once('.') {
                Some((key, id)) => (key.parse().ok(), id),
                None => (None, cursor),
            },
        };
        let known = names::check_known("cursor", id).is_ok() && live.task(id)?.is_some();
        match key.filter(|_| known) {
            Some(key) => Ok(self.placed(key, id)),
            None => {
                let what = match self.sort {
                    TaskSort::Id => "the id of a task",
                    _ => "the next_cursor of a page in that order",
                };
                Err(page::unknown_cursor(cursor, what).into())
            }
        }
    }

    fn key(self, task: &Task) -> u64 {
        match self.sort {
            TaskSort::Id => 0,
            TaskSort::Updated => task.seq,
            TaskSort::Priority => task.priority as u64,
            TaskSort::Status => task.status as u64,
        }
    }

    /// Returns the key for ascending comparison: inverts it if the order is descending.
    fn turned(self, key: u64) -> u64 {
        match self.order {
            SortOrder::Asc => key,
            SortOrder::Desc => u64::MAX - key,
        }
    }

    /// Returns a page that is read from the index, one status after the other.
    fn by_status(
        self,
        live: &Live,
        filter: &TaskFilter,
        behind: Option<Place>,
        limit: usize,
    ) -> Result<TaskPage> {
        let mut statuses = Status::ALL.to_vec();
        if self.order == SortOrder::Desc {
            statuses.reverse();
        }
        statuses.retain(|status| filter.status.is_none_or(|wanted| wanted == *status));
        let mut found = TaskPage::default();
        for status in statuses {
            let at = self.turned(status as u64);
            let after = match &behind {
                Some((key, _)) if at < *key => continue,
                Some((key, id)) if at == *key => natural::decode(id),
                _ => None,
            };
            let of_status = TaskFilter {
                status: Some(status),
                ..filter.clone()
            };
            let left = limit - found.tasks.len();
            let page = live.tasks(&of_status, after.as_deref(), left)?;
            found.tasks.extend(page.tasks);
            if page.more {
                found.more = true;
                break;
            }
        }
        Ok(found)
    }

    /// Reads all tasks that pass the filters, and returns the first page of these tasks. Keeps at
    /// most a few pages in memory.
    fn scanned(
        self,
        live: &Live,
        filter: &TaskFilter,
        behind: Option<&Place>,
        limit: usize,
    ) -> Result<TaskPage> {
        let kept = limit.saturating_add(1);
        let mut found: Vec<(Place, Task)> = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let read = live.tasks(filter, after.as_deref(), READ)?;
            after = read.tasks.last().map(|last| last.task_id.clone());
            for task in read.tasks {
                let is_since = self.since.is_none_or(|since| task.seq > since);
                let place = self.place(&task);
                if is_since && behind.is_none_or(|behind| place > *behind) {
                    found.push((place, task));
                }
            }
            if found.len() > kept {
                found.sort_by(|(one, _), (other, _)| one.cmp(other));
                found.truncate(kept);
            }
            if !read.more {
                break;
            }
        }
        found.sort_by(|(one, _), (other, _)| one.cmp(other));
        let more = page::cut(&mut found, limit);
        let tasks = found.into_iter().map(|(_, task)| task).collect();
        Ok(TaskPage { tasks, more })
    }

    fn place(self, task: &Task) -> Place {
        self.placed(self.key(task), &task.task_id)
    }

    fn placed(self, key: u64, id: &str) -> Place {
        let mut id = natural::key(id);
        if (self.sort, self.order) == (TaskSort::Id, SortOrder::Desc) {
            id.iter_mut().for_each(|byte| *byte = !*byte);
            // The last byte sorts an id after all longer ids that begin with this id.
            id.push(u8::MAX);
        }
        (self.turned(key), id)
    }
}

impl std::str::FromStr for TaskSort {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<TaskSort, String> {
        TaskSort::from_name(text).ok_or_else(TaskSort::rule)
    }
}

impl std::str::FromStr for SortOrder {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<SortOrder, String> {
        SortOrder::from_name(text).ok_or_else(SortOrder::rule)
    }
}
