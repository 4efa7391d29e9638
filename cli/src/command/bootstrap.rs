//! `bootstrap`: records the steps of a bootstrap run.

use crate::call::Call;
use crate::command::prelude::*;
use crate::render::bootstrap;
use serde_json::{Map, Value};
use teamlog_team::bootstrap::list::BootstrapList;
use teamlog_team::bootstrap::record::{BootstrapExplain, BootstrapRecord, BootstrapRecorded};
use teamlog_team::bootstrap::show::{BootstrapEvidence, BootstrapShow};
use teamlog_team::bootstrap::start::BootstrapStart;

subcommands! {
    @examples "\
  teamlog bootstrap start demo --domains game_theory,ecology
  teamlog bootstrap show demo";
    START = operation::<BootstrapStart>("start", bootstrap::started)
        .about("Begin a run in the phase INIT")
        .examples("\
  teamlog bootstrap start demo --domains game_theory,ecology
  teamlog bootstrap start demo --run nightly --json");
    RECORD = own(
        recorded::<BootstrapRecorded>("record"),
        "Report an event of a run; a violation of the contract is recorded too, and returns the run to an earlier state",
        Record::run,
    );
    LIST = operation::<BootstrapList>("list", bootstrap::listed)
        .at()
        .examples("\
  teamlog bootstrap list demo
  teamlog bootstrap list demo --limit 1 --json");
    SHOW = operation::<BootstrapShow>("show", bootstrap::shown)
        .at()
        .about("Show the state of a run: what is done, what is next, and what must not happen now")
        .examples("\
  teamlog bootstrap show demo
  teamlog bootstrap show demo --run 1 --json");
    EVIDENCE = operation::<BootstrapEvidence>("evidence", |answer, _| bootstrap::evidence(answer))
        .at()
        .about("Print the evidence of a run's launch in the form of the contract")
        .examples("\
  teamlog bootstrap evidence demo
  teamlog bootstrap evidence demo --run 1 --json");
    EXPLAIN = operation::<BootstrapExplain>("explain", bootstrap::explained)
        .about("Show the effect of a report, and record nothing")
        .with(|explain, data: Data, context| {
            explain.data = data.read(context)?;
            Ok(())
        })
        .examples("\
  teamlog bootstrap explain demo --event swarm_declared
  teamlog bootstrap explain demo --event fallback_entered --json");
}

// The data of an event. Not a doc comment, because clap would print it in the help of each command.
#[derive(Debug, clap::Args)]
#[group(skip)]
struct Data {
    /// Data of the event, a JSON object; @FILE reads a file, - standard input [default: {}]
    #[arg(long, value_name = "JSON|@FILE|-", allow_hyphen_values = true)]
    data: Option<String>,
}

impl Data {
    fn read(&self, context: &Context) -> Result<Map<String, Value>, CommandError> {
        given::maybe_object(context.env(), "data", self.data.as_deref())
    }
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
A report that is not accepted is answered like any other, with its code, and exits 1.

Examples:
  teamlog bootstrap record demo --event core_ready_ack --data '{\"from\":\"synthesizer\"}'
  teamlog bootstrap record demo --event running_entered --data @evidence.json --json")]
struct Record {
    /// The team
    team: String,
    #[command(flatten)]
    input: BootstrapRecord,
    #[command(flatten)]
    data: Data,
    #[command(flatten)]
    stamp: Stamp,
}

impl Record {
    fn run(self, context: &mut Context) -> Outcome {
        let input = BootstrapRecord {
            data: self.data.read(context)?,
            ..self.input
        };
        let done = self
            .stamp
            .execute(context, &Call::operation(), &self.team, input);
        let answer = done.or_else(refused)?;
        let exit = Exit::Refused.unless(answer.accepted);
        context.end(exit, &answer, bootstrap::recorded)
    }
}

/// Returns the answer that the refusal of a report contains.
fn refused(error: CommandError) -> Result<BootstrapRecorded, CommandError> {
    let answer = BootstrapRecorded::from_refusal(error.code(), error.message(), error.details());
    answer.ok_or(error)
}
