//! `rehydrate`: everything derived, anew from the log.

use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::render::integrity;
use crate::render::progress::Progress;
use teamlog_team::command::rehydrate::Rehydrate;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog rehydrate demo
  teamlog rehydrate demo --workers 2 --json")]
pub struct Args {
    /// The team
    team: String,
    /// Decoding threads; any number gives the same bytes [default: one a core]
    #[arg(long, value_name = "N", value_parser = super::whole::<usize>)]
    workers: Option<usize>,
}

impl Args {
    /// Runs it.
    pub fn run(self, context: &mut Context) -> Outcome {
        let mut team = context.team(&self.team)?;
        let mut progress = Progress::on_stderr("rehydrating");
        let rebuilt = team.rehydrate(
            Rehydrate {
                workers: self.workers,
            },
            &mut |done, all| progress.show(done, all),
        );
        progress.clear();
        context.answer(&rebuilt?, integrity::rehydrated)?;
        context.done(team, Exit::Done)
    }
}
