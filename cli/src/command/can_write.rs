//! `can-write`: may an agent write a path now?

use crate::command::prelude::*;
use teamlog_team::resource::can_write::CanWrite;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Say whether an agent may write a path now: under a lease of its own on a task that declares it\n\n\
        Exit code 0 if it may, 1 if not.",
    after_help = "\
Examples:
  teamlog can-write demo src/io/file.rs --agent dev
  teamlog can-write demo /home/me/app/src/io --agent dev --json"
)]
pub struct Args {
    /// The team
    team: String,
    /// Relative to the repository, or absolute where `resources.root` is set [default: all of it]
    path: Option<String>,
    /// Who is to write [default: who is acting]
    #[arg(long)]
    agent: Option<String>,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        let input = CanWrite {
            agent: context.agent("--agent", self.agent)?,
            path: self.path,
        };
        let verdict = context.read(&self.team, input)?;
        let exit = Exit::Refused.unless(verdict.allow);
        context.end(exit, &verdict, render::paths::verdict)
    }
}
