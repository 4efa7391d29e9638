//! `tasks`: lists the tasks of a team in natural order of their ids or in another order.

use crate::projections::worker::ApprovalShown;
use crate::task::approval;
use crate::task::prelude::*;
use crate::task::sorting::{SortOrder, Sorting, TaskSort};
use crate::thread::comment;
use schemars::{Schema, SchemaGenerator};

// Input of `list-tasks`.
#[allow(
    missing_docs,
    reason = "clap would print a doc comment above the help of `list`"
)]
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ListTasks")]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct Tasks {
    /// Only tasks with this status
    // The parser also accepts the old names of statuses.
    #[schemars(with = "Option<Status>")]
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "STATUS", value_parser = crate::argv::status))]
    pub status: Option<String>,
    /// Only tasks of this owner
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "AGENT"))]
    pub owner: Option<String>,
    /// Only tasks with this label; reads all tasks with the label
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "LABEL"))]
    pub label: Option<String>,
    /// Only the parts of this task
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TASK"))]
    pub parent: Option<String>,
    /// Largest number of tasks; 0 means all. If absent: all tasks in the operation, 50 on the command line
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", value_parser = crate::argv::whole::<usize>))]
    pub limit: Option<usize>,
    /// `next_cursor` of the previous page
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TASK"))]
    pub cursor: Option<String>,
    /// Sort key: `id`, `updated`, `priority` or `status`; `id` if absent. The orders by ascending id and by status are quick
    /// because the index has them; any other order reads all tasks that pass the filters
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "FIELD"))]
    pub sort: Option<TaskSort>,
    /// Sort order: `asc` or `desc`; if absent, `desc` for `updated` and `priority`, else `asc`
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "ORDER"))]
    pub order: Option<SortOrder>,
    /// Only tasks that an event after this seq changed; reads all tasks that pass the filters
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "SEQ", value_parser = crate::argv::whole::<u64>))]
    pub since: Option<u64>,
}

impl Tasks {
    /// Returns the input. If the limit is absent, sets it to "all tasks".
    #[must_use]
    pub fn or_all(self) -> Tasks {
        let limit = Some(self.limit.unwrap_or(0));
        Tasks { limit, ..self }
    }
}

operation! {
    /// List tasks as their view files show them, in natural order of their ids or in the requested order
    "tasks": Reads(ReadTasks) -> TasksAnswer = |team, asked| asked.answer(team),
    refuses = [CursorUnknown]
}

/// Input of `tasks`. Its fields are the fields of `list-tasks`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ReadTasks(pub Tasks);

impl JsonSchema for ReadTasks {
    fn schema_name() -> Cow<'static, str> {
        "ReadTasks".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        // The schema has the fields at its top level, because the parser of inputs takes the field names from there.
        Tasks::json_schema(generator)
    }
}

// Implemented by hand, because clap derives no tuple structs.
#[cfg(feature = "cli")]
impl clap::Args for ReadTasks {
    fn augment_args(command: clap::Command) -> clap::Command {
        Tasks::augment_args(command)
    }
    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Tasks::augment_args_for_update(command)
    }
}

#[cfg(feature = "cli")]
impl clap::FromArgMatches for ReadTasks {
    fn from_arg_matches(matches: &clap::ArgMatches) -> std::result::Result<ReadTasks, clap::Error> {
        Tasks::from_arg_matches(matches).map(ReadTasks)
    }
    fn update_from_arg_matches(
        &mut self,
        matches: &clap::ArgMatches,
    ) -> std::result::Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl ReadTasks {
    /// Returns the page. Adds a note if the team does not know the owner.
    fn answer(self, team: &mut Team) -> Result<TasksAnswer> {
        let ReadTasks(asked) = self;
        let unknown = match &asked.owner {
            Some(owner) => team.unknown_warning(owner)?,
            None => None,
        };
        if let Some(unknown) = unknown {
            team.options.notes.say(unknown);
        }
        team.tasks(asked)
    }
}

/// The answer `{tasks[], failed_dependencies?, unknown_dependencies?, approvals?, comments?, count, next_cursor}`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TasksAnswer {
    /// The tasks of the page, as recorded. A task has the mark `lease_expired` if its lease has expired but no event records
    /// the expiry yet.
    #[schemars(with = "Vec<Task>")]
    pub tasks: Vec<Listed>,
    /// Per task of the page: its dependencies that failed or were canceled.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failed_dependencies: BTreeMap<String, Vec<String>>,
    /// Per task of the page: its dependencies that do not exist.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unknown_dependencies: BTreeMap<String, Vec<String>>,
    /// Per task of the page: the last decision of a reviewer.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub approvals: BTreeMap<String, ApprovalShown>,
    /// Per task of the page: the number of comments.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub comments: BTreeMap<String, u64>,
    /// Number of tasks on the page.
    pub count: usize,
    /// Cursor of the next page; `null` on the last page. In the order of ids it is the last id of the page, in another order the
    /// sort key and the id.
    pub next_cursor: Option<String>,
}

impl Team {
    /// Returns a page of tasks.
    pub fn tasks(&mut self, tasks: Tasks) -> Result<TasksAnswer> {
        let filter = filter(&tasks)?;
        let sorting = Sorting::new(tasks.sort, tasks.order, tasks.since);
        let (limit, now) = (page::limit(tasks.limit, page::PAGE), self.now());
        self.survey(|live, _| {
            let page = sorting.page(live, &filter, tasks.cursor.as_deref(), limit)?;
            let last = page.tasks.last().filter(|_| page.more);
            let unmet = blocking::unmet_by_task(live, &page.tasks)?;
            Ok(TasksAnswer {
                failed_dependencies: unmet.failed,
                unknown_dependencies: unmet.unknown,
                approvals: approval::of_all(live, &page.tasks)?,
                comments: comment::counts(live, &page.tasks)?,
                count: page.tasks.len(),
                next_cursor: last.map(|last| sorting.cursor(last)),
                tasks: Listed::all(page.tasks, now),
            })
        })
    }
}

fn filter(tasks: &Tasks) -> Result<TaskFilter> {
    let known = |name: &str| names::word("status", name, Status::from_name, Status::rule);
    let status = tasks.status.as_deref().map(known).transpose()?;
    let names = [
        ("owner", &tasks.owner),
        ("cursor", &tasks.cursor),
        ("parent", &tasks.parent),
    ];
    names::check_known_given(names)?;
    names::check_known_free_given([("label", &tasks.label)])?;
    Ok(TaskFilter {
        status,
        owner: tasks.owner.clone(),
        label: tasks.label.clone(),
        parent: tasks.parent.clone(),
    })
}
