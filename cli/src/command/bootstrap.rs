//! `bootstrap`: runs of the bootstrap contract, from the call that creates a team to the final synthesis.

mod data;
mod evidence;
mod explain;
mod record;
mod show;
mod start;

use super::{point, task};
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
    Show(show::Show),
    Evidence(evidence::Evidence),
    Explain(explain::Explain),
}

// What may stand beside what is recorded. (A doc comment would become the text of every command that takes these.)
#[derive(Debug, clap::Args)]
#[group(skip)]
struct Keyed {
    /// The same command under the same key is carried out once, and answered again
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// The story that it belongs to [default: that of the run]
    #[arg(long, value_name = "TRACE")]
    trace_id: Option<String>,
}

impl Keyed {
    fn stamp(self) -> task::request::Stamp {
        task::request::Stamp::of(self.key, self.trace_id)
    }
}

impl Args {
    /// Runs it.
    pub fn run(self, context: &mut Context) -> Outcome {
        match self.action {
            Action::Start(start) => start.run(context),
            Action::Record(record) => record.run(context),
            Action::Show(show) => show.run(context),
            Action::Evidence(evidence) => evidence.run(context),
            Action::Explain(explain) => explain.run(context),
        }
    }
}
