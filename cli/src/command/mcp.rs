//! `mcp`: a Model Context Protocol server for agents.

use super::session::SessionScope;
use crate::command::prelude::*;
use crate::context::not_served;
use crate::forward::TOOL;
use serde_json::{Map, Value};
use std::sync::Arc;
use teamlog_mcp::{Elsewhere, Session, ToolError};
use teamlog_team::mode::rules::shown::scope;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog mcp
  teamlog mcp --team demo
  teamlog mcp --team demo --session s-1")]
pub struct Args {
    /// The team of tool calls that name no team
    #[arg(long, short = 't', value_name = "TEAM")]
    team: Option<String>,
    #[command(flatten)]
    scope: SessionScope,
}

impl Args {
    pub fn run(mut self, context: &mut Context) -> Outcome {
        let root = match (context.remote()?, &self.team) {
            (Some(remote), _) => {
                let team = context.team_named(self.team.take())?;
                if team != remote.team() {
                    return Err(not_served(&team));
                }
                self.team = Some(team);
                None
            }
            // Report an unknown team now, to the user. Otherwise an agent would see the error later.
            (None, Some(team)) => {
                context.team(team)?;
                Some(context.root(team)?)
            }
            (None, None) => Some(context.data()?),
        };
        let session = session(self.scope, context)?;
        let elsewhere = elsewhere(context)?;
        teamlog_mcp::serve_stdio(root, self.team, session, context.origin(), elsewhere)
            .map_err(|error| CommandError::io("serve", "standard input and output", &error))?;
        Ok(Exit::Done)
    }
}

/// Returns the session for reading and writing mode states. If the environment names an invalid session, only tools for
/// mode states report the error.
fn session(given: SessionScope, context: &Context) -> Result<Session, CommandError> {
    match given.session(context) {
        Ok(session) => {
            scope(session.as_deref())?;
            Ok(Ok(session))
        }
        Err(error) => Ok(Err(tool_error(&error))),
    }
}

/// Returns the function that sends a tool call to the daemon that holds the team, or to the daemon on another machine.
fn elsewhere(context: &Context) -> Result<Elsewhere, CommandError> {
    let (client, who) = (context.client(context.remote()?), context.who());
    Ok(Arc::new(
        move |tool, team, arguments: &Map<String, Value>| {
            let input = (tool.to_owned(), arguments.clone());
            let repeat = match teamlog_mcp::records(tool) {
                true => Repeat::Unsafe,
                false => Repeat::Same,
            };
            let called = TOOL.sent(&input, |sent| {
                let ended = client.call(sent, team, &who, repeat)?;
                ended.map(|ended| ended.outcome).transpose()
            });
            match called {
                Ok((_, said)) => Some(said?.map_err(ToolError)),
                Err(error) => Some(Err(tool_error(&error))),
            }
        },
    ))
}

fn tool_error(error: &CommandError) -> ToolError {
    ToolError::new(error.code(), error.message(), error.hint())
}
