//! `task edit`: what a task is about, what it waits for, and what its completion needs.

use super::{Request, Target};
use crate::command::prelude::*;
use crate::render::claim;
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
    /// If it cannot be done without changing code
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    requires_code_change: Option<bool>,
    /// If it is completed only after a reviewer approved it
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    requires_approval: Option<bool>,
    #[command(flatten)]
    request: Request,
}

impl Edit {
    /// Refuses a command line that names nothing to change.
    fn check(&self) -> Result<(), CommandError> {
        let texts = self.subject.is_some() || self.description.is_some();
        let tasks = self.unblocked || !self.blocked_by.is_empty();
        let requires = self.requires_code_change.is_some() || self.requires_approval.is_some();
        match texts || tasks || requires {
            true => Ok(()),
            false => {
                let message =
                    "nothing to change: pass --subject, --requires-approval or another option";
                Err(CommandError::usage(message))
            }
        }
    }
}

records!(
    Edit,
    target.team,
    request.stamp,
    claim::changed,
    |args, _context| {
        args.check()?;
        TaskChange {
            task_id: args.target.task_id,
            subject: args.subject,
            description: args.description,
            blocked_by: Some(args.blocked_by).filter(|tasks| args.unblocked || !tasks.is_empty()),
            requires_code_change: args.requires_code_change,
            requires_approval: args.requires_approval,
            expected_version: args.request.expected_version,
        }
    }
);
