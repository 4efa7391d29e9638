//! `artifact get`.

use crate::context::Context;
use crate::exit::{CommandError, Exit, Outcome};
use crate::render::artifact;
use std::path::PathBuf;
use teamlog_team::artifact::{ArtifactGet, ArtifactGetAnswer};

/// Print an artifact, or write it to a file, once it is checked against its digest
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Print an artifact, or write it to a file, once it is checked against its digest\n\nIts bytes are printed \
        as they are. With --json the answer tells of it, with the text where it is one.",
    after_help = "\
Examples:
  teamlog artifact get demo fix.patch > mine.patch
  teamlog artifact get demo fix.patch --out fix.patch"
)]
pub struct Get {
    /// The team
    team: String,
    /// The artifact
    #[arg(value_name = "NAME")]
    name: String,
    /// The file to write, which must not exist
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Get {
    pub fn run(self, context: &mut Context) -> Outcome {
        let mut team = context.team(&self.team)?;
        let (shown, bytes) = team.artifact_bytes(&ArtifactGet { name: self.name })?;
        let prints = self.out.is_none();
        if let Some(file) = &self.out {
            let failed = |error| CommandError::io("write", &file.display().to_string(), &error);
            let mut new = std::fs::File::create_new(file).map_err(failed)?;
            std::io::Write::write_all(&mut new, &bytes).map_err(failed)?;
        }
        match (context.out.is_json(), prints) {
            (false, true) => context.out.bytes(&bytes)?,
            (_, prints) => {
                let content = prints.then(|| String::from_utf8(bytes).ok()).flatten();
                let artifact = shown;
                context.answer(&ArtifactGetAnswer { artifact, content }, artifact::got)?;
            }
        }
        context.done(team, Exit::Done)
    }
}
