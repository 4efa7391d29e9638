//! Receipts that the command line names.

use crate::env::ProcessEnv;
use crate::exit::CommandError;
use crate::file::open;
use std::io::Read;
use std::path::Path;
use teamlog_team::GivenReceipt;

/// Many times a receipt's size: a whole answer may hold it.
const RECEIPT_BYTES_MAX: u64 = 8 << 20;

/// A receipt as the command line names it: its text, or `@` and a file that holds it.
pub(super) fn presented(env: &ProcessEnv, text: &str) -> Result<GivenReceipt, CommandError> {
    match text.strip_prefix('@') {
        Some(file) => receipt_file(env, "last_receipt", Path::new(file)),
        None => Ok(GivenReceipt::read(text)?),
    }
}

pub fn receipt_file(
    env: &ProcessEnv,
    flag: &str,
    path: &Path,
) -> Result<GivenReceipt, CommandError> {
    let mut text = String::new();
    open(env, flag, path)?
        .take(RECEIPT_BYTES_MAX)
        .read_to_string(&mut text)
        .map_err(|error| {
            CommandError::io("read", &format!("{flag} file {}", path.display()), &error)
        })?;
    Ok(GivenReceipt::read(&text)?)
}
