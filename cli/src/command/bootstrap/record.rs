//! `bootstrap record`: what happened in a run is reported.

use crate::call::BOOTSTRAP_RECORD;
use crate::command::stamp::Stamp;
use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::given;
use crate::render::bootstrap;
use teamlog_team::bootstrap::record::BootstrapRecord;

/// Report what happened in a run: what violates the contract is recorded too, and the run falls back
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A report that is not accepted is answered like any other, with its code, and exits 1.

Examples:
  teamlog bootstrap record demo --event core_ready_ack --data '{\"from\":\"synthesizer\"}'
  teamlog bootstrap record demo --event running_entered --data @evidence.json --json")]
pub struct Record {
    /// The team
    team: String,
    /// The run [default: the one that began last]
    #[arg(long, value_name = "ID")]
    run: Option<String>,
    /// What happened: an event of the contract, or one of its signals
    #[arg(long, value_name = "NAME")]
    event: String,
    /// What is said with it, a JSON object; @FILE reads a file, - standard input [default: {}]
    #[arg(long, value_name = "JSON|@FILE|-", allow_hyphen_values = true)]
    data: Option<String>,
    #[command(flatten)]
    stamp: Stamp,
}

impl Record {
    pub fn run(self, context: &mut Context) -> Outcome {
        let input = BootstrapRecord {
            run: self.run,
            event: self.event,
            data: given::maybe_object(context.env(), "data", self.data.as_deref())?,
        };
        let answer = self
            .stamp
            .execute(context, &BOOTSTRAP_RECORD, &self.team, input)?;
        context.answer(&answer, bootstrap::recorded)?;
        context.ended(match answer.accepted {
            true => Exit::Done,
            false => Exit::Refused,
        })
    }
}
