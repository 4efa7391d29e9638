//! `restore`: creates a team from its backup.

use crate::command::prelude::*;
use crate::render::moving;
use teamlog_team::backup::restore::Restore;
use teamlog_team::engine::Format;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Restore a team from its backup: whole, or not at all\n\nThe team must not exist. Restored under its own name, it keeps the log's id and bytes, and receipts up to the backup stay valid. Under another name (--from), or in another format, it is a new log with the same events and groups.",
    after_help = "\
Examples:
  teamlog restore ../backups old
  teamlog restore ../backups again --from demo --format binary"
)]
pub struct Args {
    /// The directory that was given to `backup`
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// The team to restore
    team: String,
    /// Name of the team when it was backed up, if it differs
    #[arg(long, value_name = "TEAM")]
    from: Option<String>,
    /// Id of the log to restore, if the directory holds several logs of the team [default: the log of the latest
    /// backup]
    #[arg(long, value_name = "ID")]
    log: Option<String>,
    /// Format of the restored log, if it differs from the backup's format: jsonl or binary
    #[arg(long, value_parser = super::format)]
    format: Option<Format>,
    /// Accept a network or host-shared file system
    #[arg(long)]
    allow_network_fs: bool,
    /// Accept the tokens in the backup from agents on other machines; without this option, the tokens are not valid here
    #[arg(long)]
    keep_tokens: bool,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        let backup_dir = context.backup_dir(&self.dir)?;
        context.keep_off(&self.team)?;
        let root = context.new_root(&self.team)?;
        let restore = Restore {
            team: self.team,
            from: self.from,
            log: self.log,
            format: self.format,
            allow_network_fs: self.allow_network_fs,
            keep_tokens: self.keep_tokens,
        };
        let answer = root.restore(restore, &backup_dir)?;
        context.end(Exit::Done, &answer, moving::restored)
    }
}
