//! `task-update`: an agent reports on a task, by message.

use crate::command::prelude::*;
use crate::command::send::Options;
use teamlog_team::message::task_update::TaskUpdate;
use teamlog_team::projections::{Status, spelling};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog task-update demo --from dev --to lead --task-id T-1 --status in_progress
  teamlog task-update demo --from dev --to lead --task-id T-1 --blocked --note 'no key'
  teamlog task-update demo --from dev --to lead --task-id T-1 --status done")]
pub struct Args {
    /// The team
    team: String,
    /// Who reports [default: who is acting]
    #[arg(long, value_name = "AGENT")]
    from: Option<String>,
    /// Who is told
    #[arg(long, value_name = "AGENT")]
    to: String,
    /// The task
    #[arg(long, value_name = "TASK")]
    task_id: String,
    /// pending, assigned, in_progress, blocked, completed (done), failed or canceled (skipped)
    #[arg(long)]
    status: Option<String>,
    /// How far it is, in your words
    #[arg(long, value_name = "TEXT")]
    progress: Option<String>,
    /// When it will be done, in your words
    #[arg(long, value_name = "TEXT")]
    eta: Option<String>,
    /// It cannot go on
    #[arg(long, conflicts_with = "unblocked")]
    blocked: bool,
    /// It can go on again
    #[arg(long)]
    unblocked: bool,
    /// Anything else
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    #[command(flatten)]
    options: Options,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        check_status(self.status.as_deref())?;
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

/// Refuses a status that no task can have. A message with such a status would be recorded and change nothing.
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
