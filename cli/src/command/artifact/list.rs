//! `artifact list`.

use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::render::artifact;
use teamlog_team::artifact::ArtifactList;

/// List artifacts by name
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog artifact list demo
  teamlog artifact list demo --kind patches --json")]
pub struct List {
    /// The team
    team: String,
    /// Only summaries, or only patches
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// Most artifacts; 0 is all [default: 50]
    #[arg(long, value_name = "N", value_parser = super::whole::<usize>)]
    limit: Option<usize>,
    /// The name that the page before ended with
    #[arg(long, value_name = "NAME")]
    cursor: Option<String>,
}

impl List {
    pub fn run(self, context: &mut Context) -> Outcome {
        let mut team = context.team(&self.team)?;
        let answer = team.artifact_list(&ArtifactList {
            kind: self.kind,
            limit: self.limit,
            cursor: self.cursor,
        })?;
        context.answer(&answer, artifact::page)?;
        context.done(team, Exit::Done)
    }
}
