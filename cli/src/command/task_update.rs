//! `task-update`: reports on a task by a message.

use crate::command::prelude::*;
use crate::command::send::Options;
use teamlog_team::message::task_update::TaskUpdate;
use teamlog_team::projections::{Status, spelling};
use teamlog_team::task::show::TaskShow;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog task-update demo --from dev --to lead --task-id T-1 --status in_progress
  teamlog task-update demo --from dev --to lead --task-id T-1 --blocked --note 'no key'
  teamlog task-update demo --from dev --to lead --task-id T-1 --status done")]
pub struct Args {
    /// The team
    team: String,
    /// Agent that reports [default: the acting agent]
    #[arg(long, value_name = "AGENT")]
    from: Option<String>,
    /// Recipient of the report
    #[arg(long, value_name = "AGENT")]
    to: String,
    /// Id of the task
    #[arg(long, value_name = "TASK")]
    task_id: String,
    /// Status: pending, assigned, in_progress, blocked, completed (done), failed or canceled (skipped)
    #[arg(long)]
    status: Option<String>,
    /// Progress, in your own words
    #[arg(long, value_name = "TEXT")]
    progress: Option<String>,
    /// Expected time of completion, in your own words
    #[arg(long, value_name = "TEXT")]
    eta: Option<String>,
    /// Report the task as blocked
    #[arg(long, conflicts_with = "unblocked")]
    blocked: bool,
    /// Report the task as no longer blocked
    #[arg(long)]
    unblocked: bool,
    /// Free text
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    #[command(flatten)]
    options: Options,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        check_status(self.status.as_deref())?;
        if self
            .status
            .as_deref()
            .and_then(Status::from_name)
            .is_some_and(Status::is_final)
        {
            check_task(context, &self.team, &self.task_id)?;
        }
        let update = TaskUpdate {
            from: context.agent("--from", self.from)?,
            to: self.to,
            task_id: self.task_id,
            status: self.status,
            progress: self.progress,
            eta: self.eta,
            blocked: (self.blocked || self.unblocked).then_some(self.blocked),
            note: self.note,
            ..TaskUpdate::default()
        };
        self.options.send(context, &self.team, update.into())
    }
}

/// Refuses a report that finishes a task that does not exist, because its id is probably mistyped. Other reports create the task.
fn check_task(context: &mut Context, team: &str, task_id: &str) -> Result<(), CommandError> {
    let show = TaskShow {
        task_id: task_id.to_owned(),
        ..TaskShow::default()
    };
    context.read(team, show).map(drop)
}

/// Refuses an unknown status, because a message with an unknown status would be recorded and change nothing.
fn check_status(status: Option<&str>) -> Result<(), CommandError> {
    let Some(status) = status.filter(|status| Status::from_name(status).is_none()) else {
        return Ok(());
    };
    let names = Status::ALL.map(Status::name);
    let meant = spelling::meant(status, names.into_iter().chain(["done", "skipped"]));
    let meant = meant.map(|meant| format!("; did you mean {meant}?"));
    let message = format!(
        "no status {}{} (one of {})",
        visible(status),
        meant.unwrap_or_default(),
        names.join(", ")
    );
    Err(CommandError::usage(message).about("--status"))
}
