//! `mode update`: an active mode gets on.

use super::request::{Fields, Target};
use crate::command::stamp::Stamp;
use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::render::mode;
use teamlog_team::mode::write::ModeUpdate;

/// Change fields of an active mode; a phase or an outcome that ends it does so
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog mode update demo ultrawork --phase executing
  teamlog mode update demo ultrawork --iteration 2 --set plan=docs/plan.md --unset error --json")]
pub struct Update {
    #[command(flatten)]
    target: Target,
    /// The phase that it is in now
    #[arg(long)]
    phase: Option<String>,
    /// The round that it is in now
    #[arg(long, value_name = "N", value_parser = super::whole::<u64>)]
    iteration: Option<u64>,
    #[command(flatten)]
    fields: Fields,
    /// Fields to take away, separated by commas
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',')]
    unset: Vec<String>,
    #[command(flatten)]
    stamp: Stamp,
}

impl Update {
    pub fn run(self, context: &mut Context) -> Outcome {
        let input = ModeUpdate {
            mode: self.target.mode,
            session_id: self.target.scope.session(context)?,
            current_phase: self.phase,
            iteration: self.iteration,
            set: self.fields.all(context)?,
            unset: Some(self.unset).filter(|fields| !fields.is_empty()),
        };
        self.stamp
            .carry_out(context, &self.target.team, input, mode::stands)?;
        Ok(Exit::Done)
    }
}
