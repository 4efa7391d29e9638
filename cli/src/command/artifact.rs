//! `artifact`: stores and reads files that agents share.

use crate::command::append::lines_of;
use crate::command::prelude::*;
use crate::forward::{ARTIFACT_GET, ARTIFACT_PUT};
use crate::render::artifact;
use std::io::Read;
use teamlog_team::artifact::{ARTIFACT_BYTES_MAX, ArtifactGet, ArtifactGetAnswer};
use teamlog_team::artifact::{ArtifactList, ArtifactPut};

subcommands! {
    @examples "\
  git diff | teamlog artifact put demo - --name fix.patch
  teamlog artifact list demo";
    PUT = own(
        of::<ArtifactPut>("put"),
        "Store a file as an artifact of the team",
        Put::run,
    );
    GET = own(
        of::<ArtifactGet>("get"),
        "Print an artifact, or write it to a file, after a check of its digest",
        Get::run,
    );
    LIST = operation::<ArtifactList>("list", artifact::all)
        .examples("\
  teamlog artifact list demo
  teamlog artifact list demo --kind patches --json");
}

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Store a file as an artifact of the team\n\nStoring the same file under the same name again changes nothing; \
        a different file is refused without --replace. The replaced artifact is kept. Without --agent, the acting agent is the author.",
    after_help = "\
Examples:
  git diff | teamlog artifact put demo - --name login.patch --task-id 7
  teamlog artifact put demo notes.md --kind summaries --agent dev"
)]
struct Put {
    /// The team
    team: String,
    /// Path of the file; - is standard input
    #[arg(value_name = "FILE|-")]
    file: PathBuf,
    /// Name of the artifact [default: the name of the file]
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    input: ArtifactPut,
    #[command(flatten)]
    stamp: Stamp,
}

impl Put {
    fn run(self, context: &mut Context) -> Outcome {
        let bytes = bytes(context.env(), &self.file)?;
        let put = ArtifactPut {
            name: self.name()?,
            content: bytes.into_iter().map(char::from).collect(),
            worker: self.input.worker.clone().or_else(|| context.actor()),
            ..self.input.clone()
        };
        let answer = self
            .stamp
            .execute(context, &ARTIFACT_PUT, &self.team, put)?;
        context.end(Exit::Done, &answer, artifact::stored)
    }

    fn name(&self) -> Result<String, CommandError> {
        if let Some(name) = &self.name {
            return Ok(name.clone());
        }
        let name = self.file.file_name().and_then(|name| name.to_str());
        match name.filter(|name| *name != "-") {
            Some(name) => Ok(name.to_owned()),
            None => {
                let message = "--name is required: standard input has none".to_owned();
                Err(CommandError::usage(message))
            }
        }
    }
}

/// Reads at most one byte more than the limit for artifacts. The extra byte shows that the file is too large.
fn bytes(env: &ProcessEnv, file: &Path) -> Result<Vec<u8>, CommandError> {
    let mut bytes = Vec::new();
    lines_of(env, "FILE", file)?
        .take(ARTIFACT_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| {
            CommandError::io("read", &format!("artifact file {}", file.display()), &error)
        })?;
    Ok(bytes)
}

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Print an artifact, or write it to a file, after a check of its digest\n\nThe bytes are printed unchanged, \
        but a terminal gets control and hidden characters in escaped form. With --json the answer describes the artifact, with its content if that is text.",
    after_help = "\
Examples:
  teamlog artifact get demo fix.patch > mine.patch
  teamlog artifact get demo fix.patch --out fix.patch"
)]
struct Get {
    /// The team
    team: String,
    #[command(flatten)]
    input: ArtifactGet,
    /// Path of the output file, which must not exist
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Get {
    fn run(self, context: &mut Context) -> Outcome {
        let (shown, content) = context.fetch(&ARTIFACT_GET, &self.team, self.input)?;
        let bytes: Vec<u8> = content
            .chars()
            .filter_map(|c| u8::try_from(c).ok())
            .collect();
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
        context.ended(Exit::Done)
    }
}
