//! `bootstrap evidence`: what the log has to show for a launch.

use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::render::bootstrap;
use crate::when::Spot;
use teamlog_team::bootstrap::show::BootstrapEvidence;

/// Print the evidence of a run's launch, as the contract has it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog bootstrap evidence demo
  teamlog bootstrap evidence demo --run 1 --json")]
pub struct Evidence {
    /// The team
    team: String,
    /// The run [default: the one that began last]
    #[arg(long, value_name = "ID")]
    run: Option<String>,
    /// As it was then: once that event was recorded, or at that time: 1h, 14:00, yesterday, ISO 8601
    #[arg(long, value_name = "SEQ|TIME", value_parser = super::point)]
    at: Option<Spot>,
}

impl Evidence {
    pub fn run(self, context: &mut Context) -> Outcome {
        let mut team = context.team_at(&self.team, self.at)?;
        let answer = team.bootstrap_evidence(BootstrapEvidence { run: self.run })?;
        context.answer(&answer, |answer, _| bootstrap::evidence(answer))?;
        context.done(team, Exit::Done)
    }
}
