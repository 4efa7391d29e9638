//! `state`: the states of modes as callers of the link read and write them, `rcs state …`.
//!
//! What comes out is what these callers know: the payload alone, compact under `--json`, else indented; exit 1 is any
//! refusal, one of the words themselves included.

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
    /// Read the state of a mode: that of the session, else that of the root
    #[command(
        alias = "state_read",
        after_help = "\
Examples:
  teamlog state read --mode forge --team demo
  teamlog state read --input '{\"mode\":\"forge\",\"session_id\":\"s-1\"}' --json"
    )]
    Read(Query),
    /// Write fields of the state of a mode, which may start or end it
    #[command(
        alias = "state_write",
        after_help = "\
Examples:
  teamlog state write --team demo --mode ultrawork --input '{\"active\":true}'"
    )]
    Write(Query),
    /// Clear the state of a mode, so that others may start
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
        /// The states of the root and of every session
        #[arg(long)]
        all_sessions: bool,
    },
    /// List the modes that are active
    #[command(
        alias = "state_list_active",
        alias = "list_active",
        after_help = "\
Examples:
  teamlog state list-active --team demo
  teamlog state list-active --session s-1 --json"
    )]
    ListActive(Query),
    /// Show what is known of a mode, or of all of them
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

// What every operation takes. (A doc comment would become the text of every command that takes these.)
#[derive(Debug, clap::Args)]
#[group(skip)]
struct Query {
    #[arg(skip)]
    all_sessions: bool,
    /// The mode
    #[arg(long, value_name = "MODE")]
    mode: Option<String>,
    #[command(flatten)]
    scope: SessionScope,
    /// The team [default: $TEAMLOG_TEAM, else the only one not closed]
    #[arg(long, value_name = "TEAM")]
    team: Option<String>,
    /// All of it as a JSON object: `mode`, `session_id`, `team` and what the operation takes
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
    /// Reads, and shows the payload alone.
    fn show<O: Op + Serialize>(self, context: &mut Context) -> Outcome
    where
        O::Data: DeserializeOwned,
    {
        let (team, input) = self.input::<O>(context)?;
        context.show(&team, input, indented)
    }

    /// The same of what changes something.
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

    /// Puts the input together; the team that it is for.
    fn input<I: DeserializeOwned>(
        self,
        context: &mut Context,
    ) -> Result<(String, I), CommandError> {
        let mut input = given::maybe_object(context.env(), "input", self.input.as_deref())?;
        // Callers say where they stand, which means nothing to a log.
        input.remove("workingDirectory");
        given::named(&mut input, "mode", self.mode)?;
        given::named(&mut input, "team", self.team)?;
        let team = given::text(&input, "team")?;
        input.remove("team");
        match self.all_sessions {
            // The session of the environment is one of them.
            true => drop(input.insert("all_sessions".to_owned(), true.into())),
            false if input.get("all_sessions") == Some(&Value::Bool(true)) => {}
            false => self.scope.put_into(&mut input, context)?,
        }
        let asked = given::typed(input)?;
        Ok((context.team_named(team)?, asked))
    }
}

/// Shows an answer as callers of `rcs state` read it.
fn indented<A: Serialize>(answer: &A, _: &View) -> Vec<String> {
    render::pretty::of(answer)
}
