//! `list`: lists tasks. The status `review` and `--unowned` are no filters of the operation, so this command reads all tasks of the
//! other filters and keeps the wanted ones.

use crate::command::prelude::*;
use crate::render::task::is_in_review;
use teamlog_team::projections::{Status, spelling};
use teamlog_team::task::list::{ReadTasks, TasksAnswer};
use teamlog_team::task::sorting::TaskSort;

/// The status that lists show for a task in progress that waits for an approval. No event records it.
const REVIEW: &str = "review";

/// Default number of tasks, as in `tasks`.
const PAGE: usize = 50;

#[derive(Debug, clap::Args)]
#[command(
    mut_arg("status", |arg| arg.value_parser(status)
        .help("Only tasks with this status; review means in progress and waiting for an approval")),
    after_help = "\
Examples:
  teamlog list --mine --as dev
  teamlog list --status completed --limit 20
  teamlog list --status review"
)]
pub struct Args {
    /// The team
    team: String,
    #[command(flatten)]
    read: ReadTasks,
    /// Only tasks of the acting agent
    #[arg(long, conflicts_with = "owner")]
    mine: bool,
    /// Only tasks without an owner
    #[arg(long, conflicts_with_all = ["owner", "mine"])]
    unowned: bool,
    #[command(flatten)]
    at: Past,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        let mut read = self.read;
        if self.mine {
            read.0.owner = Some(context.agent("--as", None)?);
        }
        let kept = Kept {
            in_review: read.0.status.as_deref() == Some(REVIEW),
            unowned: self.unowned,
        };
        if !kept.in_review && !kept.unowned {
            return context.show_at(&self.team, self.at, read, render::task::page);
        }
        if kept.in_review {
            read.0.status = Some(Status::InProgress.name().to_owned());
        }
        let most = page_size(&read)?;
        read.0.limit = Some(0);
        let mut answer = context.read_at(&self.team, self.at, read)?;
        kept.keep(&mut answer, most);
        context.end(Exit::Done, &answer, render::task::page)
    }
}

/// Selects tasks after they are read.
struct Kept {
    in_review: bool,
    unowned: bool,
}

impl Kept {
    /// Keeps at most `most` of the wanted tasks.
    fn keep(&self, answer: &mut TasksAnswer, most: usize) {
        let approvals = &answer.approvals;
        answer.tasks.retain(|task| {
            let is_in_review = || is_in_review(task, approvals.get(&task.task_id));
            (!self.in_review || is_in_review()) && (!self.unowned || task.owner.is_none())
        });
        let is_cut = answer.tasks.len() > most;
        answer.tasks.truncate(most);
        answer.count = answer.tasks.len();
        let last = answer.tasks.last().filter(|_| is_cut);
        answer.next_cursor = last.map(|last| last.task_id.clone());
    }
}

/// Returns the largest number of tasks to show. Pages need the order by id. Any other order shows all tasks.
fn page_size(read: &ReadTasks) -> Result<usize, CommandError> {
    let by_id = matches!(read.0.sort, None | Some(TaskSort::Id)) && read.0.since.is_none();
    match (by_id, read.0.limit) {
        (true, None) => Ok(PAGE),
        (_, Some(0)) | (false, None) => Ok(usize::MAX),
        (true, Some(most)) => Ok(most),
        (false, Some(_)) => {
            let message = "--limit cannot be used with --sort or --since if --unowned or --status review is given";
            Err(CommandError::usage(message))
        }
    }
}

/// Checks the name of a status. Also accepts `review`.
fn status(text: &str) -> Result<String, String> {
    if text == REVIEW || Status::from_name(text).is_some() {
        return Ok(text.to_owned());
    }
    let names = [REVIEW].into_iter().chain(Status::ALL.map(Status::name));
    let names: Vec<&str> = names.collect();
    let meant = spelling::meant(text, names.iter().copied());
    let meant = meant.map(|meant| format!("; did you mean {meant}?"));
    let (names, meant) = (names.join(", "), meant.unwrap_or_default());
    Err(format!("must be one of {names}{meant}"))
}
