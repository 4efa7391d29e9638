//! `state`: the states of modes as callers of the link read and write them, `rcs state …`.
//!
//! What comes out is what these callers know: the payload alone, compact under `--json`, else indented; exit 1 is any
//! refusal, one of the words themselves included.

use super::printed::Printed;
use super::session::SessionScope;
use crate::call::{Call, STATE_CLEAR, STATE_WRITE};
use crate::command::prelude::*;
use crate::question::Question;
use crate::render::escape::visible_json;
use crate::render::pretty;
use serde::de::DeserializeOwned;
use serde_json::Value;
use teamlog_team::mode::state::{
    ActiveModes, StateCleared, StateShown, StateStatuses, StateWritten,
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
    Read(Read),
    Write(Write),
    Clear(Clear),
    ListActive(ListActive),
    GetStatus(GetStatus),
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

/// Read the state of a mode: that of the session, else that of the root
#[derive(Debug, clap::Args)]
#[command(
    alias = "state_read",
    after_help = "\
Examples:
  teamlog state read --mode forge --team demo
  teamlog state read --input '{\"mode\":\"forge\",\"session_id\":\"s-1\"}' --json"
)]
struct Read {
    #[command(flatten)]
    query: Query,
}

/// Write fields of the state of a mode, which may start or end it
#[derive(Debug, clap::Args)]
#[command(
    alias = "state_write",
    after_help = "\
Examples:
  teamlog state write --team demo --mode ultrawork --input '{\"active\":true}'"
)]
struct Write {
    #[command(flatten)]
    query: Query,
}

/// Clear the state of a mode, so that others may start
#[derive(Debug, clap::Args)]
#[command(
    alias = "state_clear",
    after_help = "\
Examples:
  teamlog state clear --mode forge --session s-1 --team demo
  teamlog state clear --input '{\"mode\":\"forge\",\"all_sessions\":true}' --json"
)]
struct Clear {
    #[command(flatten)]
    query: Query,
    /// The states of the root and of every session
    #[arg(long)]
    all_sessions: bool,
}

/// List the modes that are active
#[derive(Debug, clap::Args)]
#[command(
    alias = "state_list_active",
    alias = "list_active",
    after_help = "\
Examples:
  teamlog state list-active --team demo
  teamlog state list-active --session s-1 --json"
)]
struct ListActive {
    #[command(flatten)]
    query: Query,
}

/// Show what is known of a mode, or of all of them
#[derive(Debug, clap::Args)]
#[command(
    alias = "state_get_status",
    alias = "get_status",
    after_help = "\
Examples:
  teamlog state get-status --team demo
  teamlog state get-status --mode forge --session s-1 --json"
)]
struct GetStatus {
    #[command(flatten)]
    query: Query,
}

pub(super) const PRINTED: &[Printed] = &[
    read::<StateShown>("read"),
    recorded::<StateWritten>("write"),
    recorded::<StateCleared>("clear"),
    read::<ActiveModes>("list-active"),
    read::<StateStatuses>("get-status"),
];

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        match self.action {
            Action::Read(read) => read.query.ask(context, &question::STATE_READ),
            Action::ListActive(list) => list.query.ask(context, &question::STATE_ACTIVE),
            Action::GetStatus(get) => get.query.ask(context, &question::STATE_STATUS),
            Action::Write(write) => write.query.change(context, &STATE_WRITE),
            Action::Clear(mut clear) => {
                clear.query.all_sessions = clear.all_sessions;
                clear.query.change(context, &STATE_CLEAR)
            }
        }
    }
}

impl Query {
    /// Answers what is asked with its payload alone.
    fn ask<I: Serialize + DeserializeOwned, A: Serialize>(
        self,
        context: &mut Context,
        question: &Question<I, A>,
    ) -> Outcome {
        let (team, asked) = self.input(context)?;
        context.ask(&team, question, asked)
    }

    /// The same of what changes something.
    fn change<I, A>(self, context: &mut Context, call: &Call<I, A>) -> Outcome
    where
        I: Serialize + DeserializeOwned + Clone,
        A: Serialize + DeserializeOwned,
    {
        context.records(Repeat::Same);
        let (team, asked) = self.input(context)?;
        let answer = context.execute(call, &team, asked)?;
        show(context, &answer)?;
        context.ended(Exit::Done)
    }

    /// Puts the input together; the team that it is for.
    fn input<I: DeserializeOwned>(
        self,
        context: &mut Context,
    ) -> std::result::Result<(String, I), CommandError> {
        let input = self.input;
        let input = input.map(|text| given::object(context.env(), "input", &text));
        let mut input = input.transpose()?.unwrap_or_default();
        // Callers say where they stand, which means nothing to a log.
        input.remove("workingDirectory");
        given::named(&mut input, "mode", self.mode)?;
        given::named(&mut input, "team", self.team)?;
        let team = match input.remove("team") {
            None | Some(Value::Null) => None,
            Some(Value::String(team)) => Some(team),
            Some(other) => {
                let message = format!("team must be a string, but is {other}");
                return Err(CommandError::invalid("team", message));
            }
        };
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

fn show(context: &mut Context, answer: &impl Serialize) -> std::result::Result<(), CommandError> {
    context.answer(&answer, |answer, _| {
        let text = serde_json::to_string(answer).unwrap_or_default();
        vec![pretty::indented(&visible_json(&text))]
    })
}
