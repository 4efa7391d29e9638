//! `thread start`.

use crate::command::stamp::Stamp;
use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::render::thread;
use teamlog_team::thread::start::ThreadStart;

/// Start a thread between agents, perhaps about a task
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog thread start demo --title 'Who mends the login?' --participants lead,dev
  teamlog thread start demo --participants dev --task-id 7 --agent lead --json")]
pub struct Start {
    /// The team
    team: String,
    /// What it is about [default: Thread]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Who takes part, separated by commas; whoever starts it does
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    participants: Vec<String>,
    /// The task that it belongs to
    #[arg(long, value_name = "TASK")]
    task_id: Option<String>,
    /// Who starts it [default: who is acting, if anybody]
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    #[command(flatten)]
    stamp: Stamp,
}

impl Start {
    pub fn run(self, context: &mut Context) -> Outcome {
        let input = ThreadStart {
            title: self.title,
            participants: Some(self.participants).filter(|agents| !agents.is_empty()),
            task_id: self.task_id,
            worker: self.agent.or_else(|| context.actor()),
        };
        self.stamp
            .carry_out(context, &self.team, input, thread::card)?;
        Ok(Exit::Done)
    }
}
