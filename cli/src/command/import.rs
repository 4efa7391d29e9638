//! `import`: imports history from message envelopes, a directory of the message protocol, or exported events.

use crate::command::append::lines_of;
use crate::command::prelude::*;
use crate::file::open;
use crate::render::{integrity, moving, time};
use std::io::{BufReader, Cursor, Read};
use teamlog_team::Root;
use teamlog_team::engine::Format;
use teamlog_team::engine::storage::Files;
use teamlog_team::import::events::ImportEvents;
use teamlog_team::import::messages::ImportMessages;
use teamlog_team::import::report::{ImportAnswer, Reasons};
use teamlog_team::import::team_chat::ImportTeamChat;

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("source").required(true).args(["messages", "events", "team_chat"]))]
#[command(after_help = "\
Examples:
  teamlog import old --messages messages.jsonl
  teamlog import old --messages messages.jsonl --strict --format binary
  teamlog export demo | teamlog import copy --events -
  teamlog import old --team-chat old-chat")]
pub struct Args {
    /// The team; created if it does not exist
    team: String,
    /// File of message envelopes; - is standard input
    #[arg(long, value_name = "FILE")]
    messages: Option<PathBuf>,
    /// File of exported events; - is standard input
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    /// Directory of the message protocol in files: inboxes/, events/, tasks/, dead-letter/; the team must be new
    #[arg(long, value_name = "DIR")]
    team_chat: Option<PathBuf>,
    /// Format of a new team's log: jsonl or binary [default: jsonl]
    #[arg(long, value_parser = super::format)]
    format: Option<Format>,
    /// Stamp events now; the original times stay in the messages
    #[arg(long, conflicts_with_all = ["events", "team_chat"])]
    restamp: bool,
    /// Import nothing and exit 1 if any line is malformed, a duplicate, or a report that would not be applied to its
    /// task
    #[arg(long, conflicts_with = "events")]
    strict: bool,
    /// Keep no view files beside a new team's log
    #[arg(long, conflicts_with = "events")]
    no_views: bool,
    /// Accept a network or host-shared file system for a new team
    #[arg(long)]
    allow_network_fs: bool,
    /// Accept the tokens in the imported events from agents on other machines; without this option, the tokens are not valid here
    #[arg(long, conflicts_with_all = ["messages", "team_chat"])]
    keep_tokens: bool,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        if let Some(dir) = &self.team_chat {
            return self.team_chat(context, dir);
        }
        let answer = match (&self.messages, &self.events) {
            (Some(path), _) if context.is_remote() => {
                context.records(Repeat::Same);
                let mut file = lines_of(context.env(), "messages", path)?;
                context.import_remote(&self.import(), &mut *file)?
            }
            (Some(path), _) => self.messages(context, path)?,
            (_, Some(path)) => self.events(context, path)?,
            (None, None) => {
                return Err(CommandError::usage(
                    "one of --messages, --events and --team-chat is required",
                ));
            }
        };
        context.answer(&answer, integrity::imported)?;
        end(
            context,
            &answer.status,
            &answer.not_applied,
            answer.artifacts_without_files,
        )
    }

    /// Keeps the daemon away from the team until this command ends, and returns the data root.
    fn new_root(&self, context: &mut Context) -> Result<Root, CommandError> {
        context.keep_off(&self.team)?;
        context.new_root(&self.team)
    }

    fn import(&self) -> ImportMessages {
        ImportMessages {
            team: self.team.clone(),
            format: self.format,
            restamp: self.restamp,
            strict: self.strict,
            no_views: self.no_views,
            allow_network_fs: self.allow_network_fs,
        }
    }

    fn messages(&self, context: &mut Context, path: &Path) -> Result<ImportAnswer, CommandError> {
        let import = self.import();
        // Sorting reads the source twice, which is impossible with a pipe.
        let mut pipe: Box<dyn Read> = match path == Path::new("-") {
            true => Box::new(context.env().stdin()),
            false => {
                let file = open(context.env(), "messages", path)?;
                if file.metadata().is_ok_and(|metadata| metadata.is_file()) {
                    let root = self.new_root(context)?;
                    let mut file = BufReader::with_capacity(64 << 10, file);
                    return Ok(root.import_messages(import, &mut file)?);
                }
                Box::new(file)
            }
        };
        let mut held = Vec::new();
        pipe.read_to_end(&mut held).map_err(|error| {
            CommandError::io("read", &format!("messages file {}", path.display()), &error)
        })?;
        let root = self.new_root(context)?;
        Ok(root.import_messages(import, &mut Cursor::new(held))?)
    }

    fn team_chat(&self, context: &mut Context, dir: &Path) -> Outcome {
        let source = Files::open(dir).map_err(|error| {
            CommandError::io("read", &format!("directory {}", dir.display()), &error)
        })?;
        let import = ImportTeamChat {
            team: self.team.clone(),
            format: self.format,
            strict: self.strict,
            no_views: self.no_views,
            allow_network_fs: self.allow_network_fs,
        };
        let answer = self.new_root(context)?.import_team_chat(&import, &source)?;
        context.answer(&answer, moving::team_chat)?;
        end(context, answer.status, &answer.counts.not_applied, 0)
    }

    fn events(&self, context: &mut Context, path: &Path) -> Result<ImportAnswer, CommandError> {
        let import = ImportEvents {
            team: self.team.clone(),
            format: self.format,
            allow_network_fs: self.allow_network_fs,
            keep_tokens: self.keep_tokens,
        };
        let mut source = lines_of(context.env(), "events", path)?;
        Ok(self.new_root(context)?.import_events(import, &mut source)?)
    }
}

/// Prints notes after the answer, and returns the exit code.
fn end(context: &mut Context, status: &str, not_applied: &Reasons, artifacts: usize) -> Outcome {
    context.out.flush()?;
    if let Some(note) = integrity::left_aside(not_applied) {
        context.note(&note);
    }
    if artifacts > 0 {
        let files = time::plural(artifacts as u64, "artifact");
        context.note(&format!(
            "events hold no files: those of {files} are missing here; copy them from the artifacts directory of the exported team"
        ));
    }
    Ok(Exit::Refused.unless(status != "rejected"))
}
