//! `verify`: is every byte of the log as it was written?

use crate::command::append::open;
use crate::context::Context;
use crate::exit::{CommandError, Exit, Outcome};
use crate::render::integrity;
use crate::render::shell::quoted;
use std::io::Read;
use std::path::{Path, PathBuf};
use teamlog_team::command::verify::read_receipt;
use teamlog_team::engine::Receipt;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The team
    team: String,
    /// A receipt: what `head --json` printed earlier
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
}

impl Args {
    /// Runs it.
    pub fn run(self, context: &mut Context) -> Outcome {
        let receipt = self.against.as_deref().map(receipt_from).transpose()?;
        let salvage = context.command(&format!("rehydrate {} --salvage", quoted(&self.team)));
        let unreadable = format!(
            "restore the team's directory from a backup, or take what can be read: {salvage}"
        );
        let team = context
            .team(&self.team)
            .map_err(|error| match error.code() {
                // The others are sent here.
                "damaged" => error.or_hint(|| unreadable),
                _ => error,
            })?;
        let answer = team.verify(receipt.as_ref())?;
        context.answer(&answer, integrity::verified)?;
        let exit = if answer.ok { Exit::Done } else { Exit::Damaged };
        // No maintenance: a check leaves everything as it found it.
        context.out.flush()?;
        Ok(exit)
    }
}

/// Many times a receipt's size.
const RECEIPT_BYTES_MAX: u64 = 64 << 10;

fn receipt_from(path: &Path) -> Result<Receipt, CommandError> {
    let mut text = String::new();
    open("against", path)?
        .take(RECEIPT_BYTES_MAX)
        .read_to_string(&mut text)
        .map_err(|error| {
            CommandError::io("read", &format!("against file {}", path.display()), &error)
        })?;
    Ok(read_receipt(&text)?)
}
