//! `bootstrap`: runs of the bootstrap contract, from the call that creates a team to the final synthesis.

mod evidence;
mod explain;
mod list;
mod record;
mod show;
mod start;

use super::point;
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
    Record(record::Record),
    List(list::List),
    Show(show::Show),
    Evidence(evidence::Evidence),
    Explain(explain::Explain),
}

impl Args {
    /// Runs it.
    pub fn run(self, context: &mut Context) -> Outcome {
        match self.action {
            Action::Start(start) => start.run(context),
            Action::Record(record) => record.run(context),
            Action::List(list) => list.run(context),
            Action::Show(show) => show.run(context),
            Action::Evidence(evidence) => evidence.run(context),
            Action::Explain(explain) => explain.run(context),
        }
    }
}
