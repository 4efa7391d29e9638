//! `bootstrap`: runs of the bootstrap contract, from the call that creates a team to the final synthesis.

use crate::call::Call;
use crate::command::prelude::*;
use crate::render::bootstrap;
use teamlog_team::bootstrap::list::BootstrapList;
use teamlog_team::bootstrap::record::{BootstrapExplain, BootstrapRecord, BootstrapRecorded};
use teamlog_team::bootstrap::show::{BootstrapEvidence, BootstrapShow};
use teamlog_team::bootstrap::start::BootstrapStart;

actions! {
    Start = "start", of::<BootstrapStart>;
    Record = "record", recorded::<BootstrapRecorded>;
    List = "list", of::<BootstrapList>;
    Show = "show", of::<BootstrapShow>;
    Evidence = "evidence", of::<BootstrapEvidence>;
    Explain = "explain", of::<BootstrapExplain>;
}

/// Begin a run: it stands in INIT
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog bootstrap start demo --domains game_theory,ecology
  teamlog bootstrap start demo --run nightly --json")]
struct Start {
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

records!(Start, bootstrap::started, |args, context| BootstrapStart {
    run: args.run,
    domains: Some(args.domains).filter(|domains| !domains.is_empty()),
});

/// Report what happened in a run: what violates the contract is recorded too, and the run falls back
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A report that is not accepted is answered like any other, with its code, and exits 1.

Examples:
  teamlog bootstrap record demo --event core_ready_ack --data '{\"from\":\"synthesizer\"}'
  teamlog bootstrap record demo --event running_entered --data @evidence.json --json")]
struct Record {
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
    fn run(self, context: &mut Context) -> Outcome {
        let input = BootstrapRecord {
            run: self.run,
            event: self.event,
            data: given::maybe_object(context.env(), "data", self.data.as_deref())?,
        };
        let done = self
            .stamp
            .execute(context, &Call::operation(), &self.team, input);
        let answer = done.or_else(refused)?;
        let exit = Exit::Refused.unless(answer.accepted);
        context.end(exit, &answer, bootstrap::recorded)
    }
}

/// Returns the answer that the refusal of a report holds.
fn refused(error: CommandError) -> Result<BootstrapRecorded, CommandError> {
    let answer = BootstrapRecorded::from_refusal(error.code(), error.message(), error.details());
    answer.ok_or(error)
}

/// List runs, the newest first: how far each is, its case and when it began
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog bootstrap list demo
  teamlog bootstrap list demo --limit 1 --json")]
struct List {
    /// The team
    team: String,
    /// Most runs; 0 is all [default: 50]
    #[arg(long, value_name = "N", value_parser = crate::command::whole::<usize>)]
    limit: Option<usize>,
    /// The `next_cursor` of the page before
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    #[command(flatten)]
    at: Past,
}

reads!(
    List,
    at,
    render::bootstrap::listed,
    BootstrapList(limit, cursor)
);

/// Show where a run stands: what is done, what is next, and what must not happen now
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog bootstrap show demo
  teamlog bootstrap show demo --run 1 --json")]
struct Show {
    /// The team
    team: String,
    /// The run [default: the one that began last]
    #[arg(long, value_name = "ID")]
    run: Option<String>,
    #[command(flatten)]
    at: Past,
}

reads!(Show, at, render::bootstrap::shown, BootstrapShow(run));

/// Print the evidence of a run's launch, as the contract has it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog bootstrap evidence demo
  teamlog bootstrap evidence demo --run 1 --json")]
struct Evidence {
    /// The team
    team: String,
    /// The run [default: the one that began last]
    #[arg(long, value_name = "ID")]
    run: Option<String>,
    #[command(flatten)]
    at: Past,
}

reads!(
    Evidence,
    at,
    |answer, _| render::bootstrap::evidence(answer),
    BootstrapEvidence(run)
);

/// Say what would come of a report, and record nothing
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog bootstrap explain demo --event swarm_declared
  teamlog bootstrap explain demo --event fallback_entered --json")]
struct Explain {
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

reads!(Explain, render::bootstrap::explained, |args, context| {
    BootstrapExplain {
        run: args.run,
        event: args.event,
        data: given::maybe_object(context.env(), "data", args.data.as_deref())?,
    }
});
