//! `task-assign`: assigns a task to an agent by a message.

use crate::command::prelude::*;
use crate::command::send::Options;
use teamlog_team::message::task_assign::TaskAssign;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog task-assign demo --from lead --to dev --task-id T-2 --subject 'Fix it' --trace-id tr-2
  teamlog task-assign demo --from lead --to qa --task-id T-3 --subject 'Try it' --deps T-1,T-2")]
pub struct Args {
    /// The team
    team: String,
    /// Agent that assigns the task [default: the acting agent]
    #[arg(long, value_name = "AGENT")]
    from: Option<String>,
    /// New owner of the task
    #[arg(long, value_name = "AGENT")]
    to: String,
    /// Id of the task
    #[arg(long, value_name = "TASK")]
    task_id: String,
    /// Subject of the task, one line
    #[arg(long, value_name = "TEXT")]
    subject: String,
    /// Description of the task
    #[arg(long, value_name = "TEXT")]
    details: Option<String>,
    /// Tasks that must be completed first, separated by commas
    #[arg(long, value_name = "T,U", value_delimiter = ',')]
    deps: Vec<String>,
    #[command(flatten)]
    options: Options,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        let assign = TaskAssign {
            from: context.agent("--from", self.from)?,
            to: self.to,
            task_id: self.task_id,
            subject: self.subject,
            details: self.details,
            deps: self.deps,
            ..TaskAssign::default()
        };
        self.options.send(context, &self.team, assign.into())
    }
}
