//! `thread`: talks between agents, perhaps about a task.

mod link;
mod post;
mod search;
mod start;
mod tail;

use super::{point, whole};
use crate::context::Context;
use crate::exit::Outcome;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    Start(start::Start),
    Post(post::Post),
    Tail(tail::Tail),
    Search(search::Search),
    Link(link::Link),
}

impl Args {
    /// Runs it.
    pub fn run(self, context: &mut Context) -> Outcome {
        match self.action {
            Action::Start(start) => start.run(context),
            Action::Post(post) => post.run(context),
            Action::Tail(tail) => tail.run(context),
            Action::Search(search) => search.run(context),
            Action::Link(link) => link.run(context),
        }
    }
}
