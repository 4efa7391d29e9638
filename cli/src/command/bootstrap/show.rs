//! `bootstrap show`: where a run stands.

use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::render::bootstrap;
use crate::when::Spot;
use teamlog_team::bootstrap::show::BootstrapShow;

/// Show where a run stands: what is done, what is next, and what must not happen now
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog bootstrap show demo
  teamlog bootstrap show demo --run 1 --json")]
pub struct Show {
    /// The team
    team: String,
    /// The run [default: the one that began last]
    #[arg(long, value_name = "ID")]
    run: Option<String>,
    /// As it was then: once that event was recorded, or at that time: 1h, 14:00, yesterday, ISO 8601
    #[arg(long, value_name = "SEQ|TIME", value_parser = super::point)]
    at: Option<Spot>,
}

impl Show {
    pub fn run(self, context: &mut Context) -> Outcome {
        let mut team = context.team_at(&self.team, self.at)?;
        let answer = team.bootstrap_show(BootstrapShow { run: self.run })?;
        context.answer(&answer, bootstrap::shown)?;
        context.done(team, Exit::Done)
    }
}
