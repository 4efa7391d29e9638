//! `thread post`.

use crate::command::stamp::Stamp;
use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::given;
use crate::render::thread;
use teamlog_team::thread::post::ThreadPost;

/// Say something in a thread; whoever takes part is told
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog thread post demo thread-0001 'I take it' --agent dev
  git diff | teamlog thread post demo thread-0001 - --to qa --key diff-1")]
pub struct Post {
    /// The team
    team: String,
    /// The thread
    #[arg(value_name = "THREAD")]
    thread: String,
    /// What is said; - is standard input
    #[arg(value_name = "TEXT|-")]
    body: String,
    /// Who says it [default: who is acting, else system]
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Who is told, separated by commas [default: whoever takes part]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    to: Vec<String>,
    #[command(flatten)]
    stamp: Stamp,
}

impl Post {
    pub fn run(self, context: &mut Context) -> Outcome {
        let body = match &*self.body {
            "-" => given::stdin(context.env(), "TEXT")?,
            _ => self.body,
        };
        let input = ThreadPost {
            thread_id: self.thread,
            body,
            worker: self.agent.or_else(|| context.actor()),
            to: Some(self.to).filter(|agents| !agents.is_empty()),
        };
        self.stamp
            .carry_out(context, &self.team, input, thread::posted)?;
        Ok(Exit::Done)
    }
}
