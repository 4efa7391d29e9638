//! `bootstrap explain`: what would come of a report.

use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::given;
use crate::render::bootstrap;
use teamlog_team::bootstrap::record::BootstrapExplain;

/// Say what would come of a report, and record nothing
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog bootstrap explain demo --event swarm_declared
  teamlog bootstrap explain demo --event fallback_entered --json")]
pub struct Explain {
    /// The team
    team: String,
    /// The run [default: the one that began last]
    #[arg(long, value_name = "ID")]
    run: Option<String>,
    /// What might happen: an event of the contract, or one of its signals
    #[arg(long, value_name = "NAME")]
    event: String,
    /// What would be said with it, a JSON object; @FILE reads a file, - standard input [default: {}]
    #[arg(long, value_name = "JSON|@FILE|-", allow_hyphen_values = true)]
    data: Option<String>,
}

impl Explain {
    pub fn run(self, context: &mut Context) -> Outcome {
        let data = given::maybe_object(context.env(), "data", self.data.as_deref())?;
        let mut team = context.team(&self.team)?;
        let answer = team.bootstrap_explain(BootstrapExplain {
            run: self.run,
            event: self.event,
            data,
        })?;
        context.answer(&answer, bootstrap::explained)?;
        context.done(team, Exit::Done)
    }
}
