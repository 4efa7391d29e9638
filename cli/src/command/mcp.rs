//! `mcp`: a server for agents that speak the Model Context Protocol.

use crate::context::Context;
use crate::exit::{CommandError, Exit, Outcome};

/// What may be typed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog mcp
  teamlog mcp --team demo")]
pub struct Args {
    /// The team that is meant where a call names none
    #[arg(long, value_name = "TEAM")]
    team: Option<String>,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        let root = match &self.team {
            // Better said now than to an agent.
            Some(team) => {
                context.team(team)?;
                context.root(team)?
            }
            None => context.data()?,
        };
        teamlog_mcp::serve_stdio(root, self.team)
            .map_err(|error| CommandError::io("serve", "standard input and output", &error))?;
        Ok(Exit::Done)
    }
}
