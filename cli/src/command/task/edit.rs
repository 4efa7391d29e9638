//! `task edit`: what a task is about, what it waits for, and what its completion needs.

use super::{Request, Target};
use crate::command::prelude::*;
use crate::render::attributes::AttributeArgs;
use crate::render::claim;
use teamlog_team::projections::task::Attributes;
use teamlog_team::task::change::TaskChange;

/// Change what a task is about, what it waits for, or if it requires an approval
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog task edit demo T-5 --subject 'Fix the login, and the logout'
  teamlog task edit demo T-5 --blocked-by T-1,T-2
  teamlog task edit demo T-5 --requires-approval")]
pub(super) struct Edit {
    #[command(flatten)]
    target: Target,
    /// What it is, in a line
    #[arg(long, value_name = "TEXT")]
    subject: Option<String>,
    /// What it is, at length
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Tasks that must be completed first, all of them, separated by commas
    #[arg(long, value_name = "T,U", value_delimiter = ',')]
    blocked_by: Vec<String>,
    /// It waits for no task
    #[arg(long, conflicts_with = "blocked_by")]
    unblocked: bool,
    #[command(flatten)]
    attributes: AttributeArgs,
    #[command(flatten)]
    request: Request,
}

/// Refuses a command line that names nothing to change.
fn check(change: TaskChange) -> Result<TaskChange, CommandError> {
    let texts = change.subject.is_some() || change.description.is_some();
    let deps = change.blocked_by.is_some();
    match texts || deps || change.attributes != Attributes::default() {
        true => Ok(change),
        false => {
            let message =
                "nothing to change: pass --subject, --requires-approval or another option";
            Err(CommandError::usage(message))
        }
    }
}

records!(
    Edit,
    target.team,
    request.stamp,
    claim::changed,
    |args, _context| {
        check(TaskChange {
            task_id: args.target.task_id,
            subject: args.subject,
            description: args.description,
            blocked_by: Some(args.blocked_by).filter(|tasks| args.unblocked || !tasks.is_empty()),
            attributes: args.attributes.into(),
            expected_version: args.request.expected_version,
        })?
    }
);
