//! `artifact`: files that agents leave for others.

mod get;
mod list;
mod put;

use super::whole;
use crate::context::Context;
use crate::exit::Outcome;
use crate::file::open;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    Put(put::Put),
    Get(get::Get),
    List(list::List),
}

impl Args {
    /// Runs it.
    pub fn run(self, context: &mut Context) -> Outcome {
        match self.action {
            Action::Put(put) => put.run(context),
            Action::Get(get) => get.run(context),
            Action::List(list) => list.run(context),
        }
    }
}
