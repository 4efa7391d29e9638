//! `mode start`: a mode becomes active.

use super::request::{Fields, Target};
use crate::command::stamp::Stamp;
use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::render::mode;
use teamlog_team::mode::start::ModeStart;

/// Make a mode active, unless those that are active do not go with it
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Make a mode active, unless those that are active do not go with it\n\nA mode that hands off to it is \
        completed by the same step, all or nothing. What is refused names the modes in the way and the commands that \
        clear them; `mode explain` says the same without doing it.",
    after_help = "\
Examples:
  teamlog mode start demo ultrawork --task 'fix every warning'
  teamlog mode start demo forge --session s-1 --max-iterations 5 --set owner=dev --json"
)]
pub struct Start {
    #[command(flatten)]
    target: Target,
    /// What it is to do
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    /// The phase to begin with [default: starting]
    #[arg(long)]
    phase: Option<String>,
    /// Rounds at most [default: 50]
    #[arg(long, value_name = "N", value_parser = super::whole::<u64>)]
    max_iterations: Option<u64>,
    #[command(flatten)]
    fields: Fields,
    #[command(flatten)]
    stamp: Stamp,
}

impl Start {
    pub fn run(self, context: &mut Context) -> Outcome {
        let input = ModeStart {
            mode: self.target.mode,
            session_id: self.target.scope.session(context)?,
            task_description: self.task,
            current_phase: self.phase,
            max_iterations: self.max_iterations,
            set: self.fields.all(context)?,
        };
        self.stamp
            .carry_out(context, &self.target.team, input, mode::stands)?;
        Ok(Exit::Done)
    }
}
