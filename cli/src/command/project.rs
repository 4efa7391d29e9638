//! `project`: declares scripted projections; `project show|test|list|remove` reads and removes them.

use crate::call::Call;
use crate::command::prelude::*;
use crate::command::subcommand::{Invocation, Subcommand};
use crate::file::open;
use crate::progress::Progress;
use crate::render::projection as shown;
use crate::when::PastPoint;
use serde_json::Value;
use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};
use teamlog_team::log::filter::EventFilter;
use teamlog_team::scripted::check::{ProjectionTestAnswer, ProjectionTestStatus, TestProjection};
use teamlog_team::scripted::declare::{DeclareProjection, RemoveProjection};
use teamlog_team::scripted::read::{ListProjections, ShowProjection};

/// Largest number of bytes that are read of a source. The refusal of a longer source needs no more.
const READ_MAX: u64 = 1 << 20;

const DECLARE: &dyn Subcommand = &own(
    of::<DeclareProjection>(""),
    "Declare a projection: a script that folds events into states, shown as a table",
    Declare::run,
);

const ROWS: &[&dyn Subcommand] = &[
    &own(
        of::<ShowProjection>("show"),
        "Show the states of a projection, or the state of one key",
        Show::run,
    ),
    &operation::<ListProjections>("list", shown::list)
        .about("List the projections: last folded event, failure, key, filter")
        .examples("\
  teamlog project list demo
  teamlog project list demo --json"),
    &operation::<TestProjection>("test", shown::tested)
        .about("Fold the history twice, and compare the states with each other and with the kept states")
        .examples("\
  teamlog project test demo counts
  teamlog project test demo counts --json")
        .exit(test_exit),
    &operation::<RemoveProjection>("remove", shown::removed)
        .about("Remove a projection with its states")
        .examples("\
  teamlog project remove demo counts
  teamlog project remove demo counts --json"),
];

subcommands! {
    @args
    |command| {
        let command = DECLARE
            .define(command)
            .args_conflicts_with_subcommands(true)
            .subcommand_negates_reqs(true);
        ROWS.iter().fold(command, |command, row| {
            let subcommand = clap::Command::new(row.name())
                .about(row.about())
                .defer(documented_row);
            command.subcommand(subcommand)
        })
    },
    |matches| match matches.subcommand_name() {
        Some(_) => Invocation::find(ROWS, matches)?,
        None => Invocation::new(DECLARE, std::mem::take(matches)),
    },
    std::iter::once(DECLARE.printed()).chain(ROWS.iter().map(|row| row.printed())).collect()
}

/// Defines the arguments of a second word. `defer` takes no closure with data, so the row is found by its name.
fn documented_row(command: clap::Command) -> clap::Command {
    let row = ROWS.iter().find(|row| row.name() == command.get_name());
    let defined = match row {
        Some(row) => row.define(command),
        None => command,
    };
    crate::team_argument::documented(defined)
}

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Declare a projection: a script that folds events into states, shown as a table\n\nThe script is a file with a function fold(event), \
        in the language Rhai. The function changes `this`, the state of the event's key. The event has the fields seq, id, kind, at, \
        at_ms, actor, task, agent, trace, message, thread, session, tags and payload.\n\n\
        Readers fold the script, so a slow script slows no writer; a daemon folds in the background. If the script fails, the projection \
        stops at that event; declare it again to fold it again from the first event. Only the leader, or a caller without an agent's \
        name, may declare a projection.",
    after_help = "\
Examples:
  teamlog project demo counts --init '{\"count\":0}' --fold counts.rhai --key event.actor
  teamlog project demo done --fold done.rhai --key event.task --kind task_completed --json"
)]
struct Declare {
    /// The team
    team: String,
    /// Name of the projection: lower-case letters, digits, _ and -
    name: String,
    /// File with the script; `-` means standard input
    #[arg(long, value_name = "FILE")]
    fold: PathBuf,
    /// First state of each key, JSON [default: {}]
    #[arg(long, value_name = "JSON", value_parser = json)]
    init: Option<Value>,
    /// Expression that gives the key of an event's state, such as event.actor, or () to skip the event [default: one state]
    #[arg(long, value_name = "EXPR")]
    key: Option<String>,
    /// Only events of this kind, or of several kinds separated by commas
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    kind: Vec<String>,
    /// Only events with this tag; with several, only events that have all of them
    #[arg(long, value_name = "NAME=VALUE")]
    tag: Vec<String>,
    /// Only events that name this task
    #[arg(long = "task", value_name = "TASK")]
    task_id: Option<String>,
    /// Only events that name this agent
    #[arg(long = "about", value_name = "AGENT")]
    agent: Option<String>,
    /// Only events of this trace
    #[arg(long = "trace", value_name = "TRACE")]
    trace_id: Option<String>,
    /// Only events of this actor
    #[arg(id = "by", long = "by", value_name = "ACTOR")]
    actor: Option<String>,
}

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Show the states of a projection, or the state of one key\n\nFolds the events that are missing. With --at, the script is the \
        present one, and the events are those up to that point.",
    after_help = "\
Examples:
  teamlog project show demo counts
  teamlog project show demo counts dev --json
  teamlog project show demo counts --at 5"
)]
struct Show {
    /// The team
    team: String,
    #[command(flatten)]
    input: ShowProjection,
    #[command(flatten)]
    at: Past,
}

impl Show {
    fn run(self, context: &mut Context) -> Outcome {
        let at: Option<PastPoint> = self.at.into();
        if at.is_none() && context.env().terminals().stderr && !context.is_remote() {
            // The answer below reports a failure.
            let _ = fold(context, &self.team, &self.input.name);
        }
        context.show_at(&self.team, at, self.input, shown::states)
    }
}

/// Folds the missing events of a projection, and shows the progress on the terminal.
fn fold(context: &mut Context, team: &str, name: &str) -> Result<(), CommandError> {
    let progress = Arc::new(Mutex::new(Progress::on_stderr(
        "folding events",
        context.env(),
    )));
    let bar = Arc::clone(&progress);
    let mut team = context.team(team)?;
    let folded = team.fold_projection(
        name,
        Arc::new(move |done, all| {
            let mut bar = bar.lock().unwrap_or_else(PoisonError::into_inner);
            bar.show(done, all);
        }),
    );
    progress
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clear();
    Ok(folded?)
}

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("must be JSON ({error})"))
}

impl Declare {
    fn run(self, context: &mut Context) -> Outcome {
        let filter = EventFilter {
            kinds: self.kind,
            tags: self.tag,
            task_id: self.task_id,
            agent: self.agent,
            trace_id: self.trace_id,
            actor: self.actor,
            ..EventFilter::default()
        };
        let input = DeclareProjection {
            name: self.name,
            fold: source(context.env(), &self.fold)?,
            init: self.init,
            key_by: self.key,
            filter: (!filter.is_empty()).then_some(filter),
        };
        // A repeated declaration records nothing.
        context.records(Repeat::Same);
        let answer = context.execute(&Call::operation(), &self.team, input)?;
        context.end(Exit::Done, &answer, shown::declared)
    }
}

/// Reads a source. The path `-` means standard input.
fn source(env: &ProcessEnv, path: &Path) -> Result<String, CommandError> {
    let mut text = String::new();
    let read = match path == Path::new("-") {
        true => env.stdin().take(READ_MAX).read_to_string(&mut text),
        false => open(env, "fold", path)?
            .take(READ_MAX)
            .read_to_string(&mut text),
    };
    match read {
        Ok(_) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            let message = format!("fold must be UTF-8, but {} is not", path.display());
            Err(CommandError::invalid("fold", message))
        }
        Err(error) => Err(CommandError::io(
            "read",
            &format!("fold file {}", path.display()),
            &error,
        )),
    }
}

/// Returns the exit code of a test: an error if the projection cannot be trusted.
fn test_exit(answer: &ProjectionTestAnswer) -> Exit {
    match answer.status {
        ProjectionTestStatus::Equal => Exit::Done,
        _ => Exit::Refused,
    }
}
