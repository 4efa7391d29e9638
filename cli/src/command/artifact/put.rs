//! `artifact put`.

use crate::call::ARTIFACT;
use crate::command::stamp::Stamp;
use crate::context::Context;
use crate::env::ProcessEnv;
use crate::exit::{CommandError, Exit, Outcome};
use crate::render::artifact;
use std::io::Read;
use std::path::{Path, PathBuf};
use teamlog_team::artifact::{ARTIFACT_BYTES_MAX, ArtifactPut};

/// Leave a file for others, under a name
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Leave a file for others, under a name\n\nThe same file under the same name once more changes nothing; \
        another one is refused without --replace. What was there before stays beside it.",
    after_help = "\
Examples:
  git diff | teamlog artifact put demo - --name login.patch --task-id 7
  teamlog artifact put demo notes.md --kind summaries --agent dev"
)]
pub struct Put {
    /// The team
    team: String,
    /// The file; - is standard input
    #[arg(value_name = "FILE|-")]
    file: PathBuf,
    /// Its name [default: that of the file]
    #[arg(long)]
    name: Option<String>,
    /// summaries or patches [default: by its name]
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// The task that it belongs to
    #[arg(long, value_name = "TASK")]
    task_id: Option<String>,
    /// Who leaves it [default: who is acting, if anybody]
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Take the place of another one of that name
    #[arg(long)]
    replace: bool,
    #[command(flatten)]
    stamp: Stamp,
}

impl Put {
    pub fn run(self, context: &mut Context) -> Outcome {
        let bytes = bytes(context.env(), &self.file)?;
        let put = ArtifactPut {
            name: self.name()?,
            content: bytes.into_iter().map(char::from).collect(),
            kind: self.kind,
            task_id: self.task_id,
            worker: self.agent.or_else(|| context.actor()),
            replace: self.replace,
        };
        let answer = self.stamp.execute(context, &ARTIFACT, &self.team, put)?;
        context.answer(&answer, artifact::stored)?;
        context.ended(Exit::Done)
    }

    fn name(&self) -> Result<String, CommandError> {
        if let Some(name) = &self.name {
            return Ok(name.clone());
        }
        let name = self.file.file_name().and_then(|name| name.to_str());
        match name.filter(|_| !is_stdin(&self.file)) {
            Some(name) => Ok(name.to_owned()),
            None => {
                let message = "--name is required: standard input has none".to_owned();
                Err(CommandError::new(Exit::Usage, "usage", message))
            }
        }
    }
}

fn is_stdin(file: &Path) -> bool {
    file == Path::new("-")
}

/// All of a file, or more than an artifact may have.
fn bytes(env: &ProcessEnv, file: &Path) -> Result<Vec<u8>, CommandError> {
    let mut from: Box<dyn Read> = match is_stdin(file) {
        true => Box::new(env.stdin()),
        false => Box::new(super::open(env, "FILE", file)?),
    };
    let mut bytes = Vec::new();
    Read::take(&mut from, ARTIFACT_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| CommandError::io("read", "FILE", &error))?;
    Ok(bytes)
}
