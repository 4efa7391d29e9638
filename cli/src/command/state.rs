//! `state`: reads and writes mode states for callers of `rcs state …`.
//!
//! Prints only the payload of the answer: compact under `--json`, else indented. The exit code is 1 for every refusal,
//! including wrong arguments.
//!
//! The command has separate arguments, because callers pass the team and all fields as one JSON object in `--input`.

use super::printed::Printed;
use super::session::SessionScope;
use crate::call::Call;
use crate::command::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::Value;
use teamlog_team::api::Op;
use teamlog_team::mode::state::{
    StateClear, StateGetStatus, StateListActive, StateRead, StateWrite,
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exit codes:
  0 done   1 refused, or typed wrongly   others as everywhere")]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Read the state of a mode, in the session or else at the root
    #[command(
        alias = "state_read",
        after_help = "\
Examples:
  teamlog state read --mode forge --team demo
  teamlog state read --input '{\"mode\":\"forge\",\"session_id\":\"s-1\"}' --json"
    )]
    Read(Query),
    /// Write fields of the state of a mode, which may start or end the mode
    #[command(
        alias = "state_write",
        after_help = "\
Examples:
  teamlog state write --team demo --mode ultrawork --input '{\"active\":true}'"
    )]
    Write(Query),
    /// Clear the state of a mode, so that other modes can start
    #[command(
        alias = "state_clear",
        after_help = "\
Examples:
  teamlog state clear --mode forge --session s-1 --team demo
  teamlog state clear --input '{\"mode\":\"forge\",\"all_sessions\":true}' --json"
    )]
    Clear {
        #[command(flatten)]
        query: Query,
        /// Clear the states of the root and of every session
        #[arg(long)]
        all_sessions: bool,
    },
    /// List the active modes
    #[command(
        alias = "state_list_active",
        alias = "list_active",
        after_help = "\
Examples:
  teamlog state list-active --team demo
  teamlog state list-active --session s-1 --json"
    )]
    ListActive(Query),
    /// Show the status of one mode, or of all modes
    #[command(
        alias = "state_get_status",
        alias = "get_status",
        after_help = "\
Examples:
  teamlog state get-status --team demo
  teamlog state get-status --mode forge --session s-1 --json"
    )]
    GetStatus(Query),
}

// Options of every operation. Not a doc comment, because clap would print it in the help of each command.
#[derive(Debug, clap::Args)]
#[group(skip)]
struct Query {
    #[arg(skip)]
    all_sessions: bool,
    /// Name of the mode
    #[arg(long, value_name = "MODE")]
    mode: Option<String>,
    #[command(flatten)]
    scope: SessionScope,
    /// The team [default: $TEAMLOG_TEAM, or else the only open team]
    #[arg(long, short = 't', value_name = "TEAM")]
    team: Option<String>,
    /// Whole input as a JSON object: `mode`, `session_id`, `team` and the operation's other fields
    #[arg(long, value_name = "JSON")]
    input: Option<String>,
}

pub(super) fn printed() -> Vec<Printed> {
    vec![
        of::<StateRead>("read"),
        of::<StateWrite>("write"),
        of::<StateClear>("clear"),
        of::<StateListActive>("list-active"),
        of::<StateGetStatus>("get-status"),
    ]
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        match self.action {
            Action::Read(query) => query.show::<StateRead>(context),
            Action::ListActive(query) => query.show::<StateListActive>(context),
            Action::GetStatus(query) => query.show::<StateGetStatus>(context),
            Action::Write(query) => query.change::<StateWrite>(context),
            Action::Clear {
                query,
                all_sessions,
            } => {
                let query = Query {
                    all_sessions,
                    ..query
                };
                query.change::<StateClear>(context)
            }
        }
    }
}

impl Query {
    /// Runs an operation that reads a state, and prints the payload of the answer.
    fn show<O: Op + Serialize>(self, context: &mut Context) -> Outcome
    where
        O::Data: DeserializeOwned,
    {
        let (team, input) = self.input::<O>(context)?;
        context.show(&team, input, indented)
    }

    /// Runs an operation that changes a state, and prints the payload of the answer.
    fn change<O>(self, context: &mut Context) -> Outcome
    where
        O: Op + Serialize + Clone,
        O::Data: DeserializeOwned,
    {
        context.records(Repeat::Same);
        let (team, asked) = self.input::<O>(context)?;
        let answer = context.execute(&Call::operation(), &team, asked)?;
        context.end(Exit::Done, &answer, indented)
    }

    /// Builds the operation's input. Returns the team and the input.
    fn input<I: DeserializeOwned>(
        self,
        context: &mut Context,
    ) -> Result<(String, I), CommandError> {
        let mut input = given::maybe_object(context.env(), "input", self.input.as_deref())?;
        // Callers send their working directory, which the operation does not accept.
        input.remove("workingDirectory");
        given::named(&mut input, "mode", self.mode)?;
        given::named(&mut input, "team", self.team)?;
        let team = given::text(&input, "team")?;
        input.remove("team");
        match self.all_sessions {
            // The session of the environment is not needed, because `all_sessions` includes every session.
            true => drop(input.insert("all_sessions".to_owned(), true.into())),
            false if input.get("all_sessions") == Some(&Value::Bool(true)) => {}
            false => self.scope.put_into(&mut input, context)?,
        }
        let asked = given::typed(input)?;
        Ok((context.team_named(team)?, asked))
    }
}

/// Renders the payload as indented JSON.
fn indented<A: Serialize>(answer: &A, _: &View) -> Vec<String> {
    render::pretty::lines(answer)
}
