//! `verify`: is every byte of the log as it was written?

use crate::command::append::open;
use crate::context::Context;
use crate::exit::{CommandError, Exit, Outcome};
use crate::render::integrity;
use serde::Deserialize;
use std::io::Read;
use std::path::{Path, PathBuf};
use teamlog_team::engine::Receipt;

/// Check every byte of the log, and that it still holds what a receipt says
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The team
    pub team: String,
    /// A receipt: what `head --json` printed earlier
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
}

impl Args {
    /// Runs it.
    pub fn run(self, context: &mut Context) -> Outcome {
        let receipt = self.against.as_deref().map(receipt_from).transpose()?;
        let team = context.team(&self.team)?;
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

/// A receipt as `head --json` prints it.
#[derive(Deserialize)]
struct Stored {
    log: String,
    seq: u64,
    segment: String,
    length: u64,
    digest: String,
}

fn receipt_from(path: &Path) -> Result<Receipt, CommandError> {
    let shown = path.display();
    let mut text = Vec::new();
    open("against", path)?
        .take(RECEIPT_BYTES_MAX)
        .read_to_end(&mut text)
        .map_err(|error| CommandError::io("read", &format!("against file {shown}"), &error))?;
    let stored: Stored = serde_json::from_slice(&text).map_err(|error| {
        let message = format!("against must be a receipt as `teamlog head --json` prints it, but {shown} is not: {error}");
        CommandError::invalid("against", message)
    })?;
    Ok(Receipt {
        log: stored.log,
        seq: stored.seq,
        segment: stored.segment,
        length: stored.length,
        digest: stored.digest,
    })
}
