//! `bootstrap start`: a run begins.

use crate::command::stamp::Stamp;
use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::render::bootstrap;
use teamlog_team::bootstrap::start::BootstrapStart;

/// Begin a run: it stands in INIT
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog bootstrap start demo --domains game_theory,ecology
  teamlog bootstrap start demo --run nightly --json")]
pub struct Start {
    /// The team
    team: String,
    /// Its id [default: the next number of the team]
    #[arg(long, value_name = "ID")]
    run: Option<String>,
    /// The domains that it is about, separated by commas; its roster then has to hold them
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    domains: Vec<String>,
    #[command(flatten)]
    stamp: Stamp,
}

impl Start {
    pub fn run(self, context: &mut Context) -> Outcome {
        let input = BootstrapStart {
            run: self.run,
            domains: Some(self.domains).filter(|domains| !domains.is_empty()),
        };
        self.stamp
            .carry_out(context, &self.team, input, bootstrap::started)?;
        Ok(Exit::Done)
    }
}
