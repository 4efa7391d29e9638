//! `mcp`: a server for agents that speak the Model Context Protocol.

use super::session::SessionScope;
use crate::command::given;
use crate::context::Context;
use crate::exit::{CommandError, Exit, Outcome};
use crate::forward;
use serde_json::{Map, Value};
use std::ffi::OsString;
use std::sync::Arc;
use teamlog_mcp::{Elsewhere, Fault, Session};
use teamlog_team::mode::rules::shown::scope;

/// What may be typed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog mcp
  teamlog mcp --team demo
  teamlog mcp --team demo --session s-1")]
pub struct Args {
    /// The team that is meant where a call names none
    #[arg(long, value_name = "TEAM")]
    team: Option<String>,
    #[command(flatten)]
    scope: SessionScope,
    /// One tool, by the process that has the team: its arguments are on standard input
    #[arg(long, hide = true, value_name = "TOOL", requires = "team")]
    tool: Option<String>,
}

impl Args {
    /// Whether it is what a server hands to the process that has the team, and no server itself.
    pub fn is_one_tool(&self) -> bool {
        self.tool.is_some()
    }

    pub fn run(self, context: &mut Context) -> Outcome {
        if let (Some(tool), Some(team)) = (&self.tool, &self.team) {
            return one(context, tool, team);
        }
        let root = match &self.team {
            // Better said now than to an agent.
            Some(team) => {
                context.team(team)?;
                context.root(team)?
            }
            None => context.data()?,
        };
        let session = session(self.scope, context)?;
        let elsewhere = elsewhere(context);
        teamlog_mcp::serve_stdio(root, self.team, session, context.origin(), elsewhere)
            .map_err(|error| CommandError::io("serve", "standard input and output", &error))?;
        Ok(Exit::Done)
    }
}

/// The session in which states are read and written. If the environment names an invalid one, only the tools of states
/// report it.
fn session(given: SessionScope, context: &Context) -> Result<Session, CommandError> {
    match given.session(context) {
        Ok(session) => {
            scope(session.as_deref())?;
            Ok(Ok(session))
        }
        Err(error) => Ok(Err(Fault::new(error.code(), error.message(), error.hint()))),
    }
}

/// Hands a tool to the daemon, where one has the team.
fn elsewhere(context: &Context) -> Elsewhere {
    let (root, env) = (context.data_root().to_owned(), context.env().clone());
    Arc::new(move |tool, team, arguments: &Map<String, Value>| {
        let words = [
            "teamlog",
            "mcp",
            "--tool",
            tool,
            "--team",
            team,
            "--data-root",
        ];
        let mut argv: Vec<OsString> = words.map(OsString::from).to_vec();
        argv.push(root.clone().into());
        let input = Value::Object(arguments.clone()).to_string();
        match forward::collected(argv, &root, team, input, &env) {
            Ok(None) => None,
            Ok(Some((0, text))) => Some(Ok(text)),
            Ok(Some((_, text))) => Some(Err(Fault(text))),
            Err(error) => Some(Err(Fault::new(error.code(), error.message(), error.hint()))),
        }
    })
}

/// One tool: what it answers, or why it does not, and nothing else.
fn one(context: &mut Context, tool: &str, team: &str) -> Outcome {
    let arguments = given::object(context.env(), "input", "-")?;
    let (exit, text) =
        match teamlog_mcp::carry_out(&context.data()?, &context.origin(), tool, team, arguments) {
            Ok(text) => (Exit::Done, text),
            Err(fault) => (Exit::Refused, fault.0),
        };
    context.out.text(&text)?;
    Ok(exit)
}
