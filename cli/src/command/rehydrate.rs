//! `rehydrate`: rebuilds all derived data from the log.

use crate::command::prelude::*;
use crate::progress::Progress;
use crate::render::integrity;
use teamlog_team::log::rehydrate::Rehydrate;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog rehydrate demo
  teamlog rehydrate demo --workers 2 --json
  teamlog rehydrate demo --salvage")]
pub struct Args {
    /// The team
    team: String,
    /// Number of decoding threads; the result does not depend on it [default: one per core]
    #[arg(long, value_name = "N", value_parser = super::whole::<usize>)]
    workers: Option<usize>,
    /// Copy the readable part of a damaged log into a new log; the damaged log is kept in the team's archive
    #[arg(long)]
    salvage: bool,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        let options = Rehydrate {
            workers: self.workers,
        };
        let mut progress = Progress::on_stderr("rehydrating", context.env());
        let mut show = |done, all| progress.show(done, all);
        let rebuilt = context.alone(&self.team, |context| {
            if self.salvage {
                let root = context.root(&self.team)?;
                let actor = context.doer();
                let rebuilt = root.salvage(&self.team, actor.as_deref(), options, &mut show)?;
                return Ok((rebuilt, None));
            }
            let mut team = context.team(&self.team)?;
            Ok((team.rehydrate(options, &mut show)?, Some(team)))
        });
        progress.clear();
        let (answer, team) = rebuilt?;
        context.answer(&answer, integrity::rehydrated)?;
        match team {
            Some(team) => context.done(team, Exit::Done),
            None => Ok(Exit::Done),
        }
    }
}
