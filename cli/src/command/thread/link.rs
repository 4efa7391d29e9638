//! `thread link`.

use crate::command::stamp::Stamp;
use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::render::thread;
use teamlog_team::thread::link::ThreadLink;

/// Make a thread belong to a task, in the place of the one that it belonged to
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog thread link demo thread-0001 7")]
pub struct Link {
    /// The team
    team: String,
    /// The thread
    #[arg(value_name = "THREAD")]
    thread: String,
    /// The task
    #[arg(value_name = "TASK")]
    task: String,
    /// Who does it [default: who is acting, if anybody]
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    #[command(flatten)]
    stamp: Stamp,
}

impl Link {
    pub fn run(self, context: &mut Context) -> Outcome {
        let input = ThreadLink {
            thread_id: self.thread,
            task_id: self.task,
            worker: self.agent.or_else(|| context.actor()),
        };
        self.stamp
            .carry_out(context, &self.team, input, thread::card)?;
        Ok(Exit::Done)
    }
}
