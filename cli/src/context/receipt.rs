//! Reads receipts from the command line.

use crate::env::ProcessEnv;
use crate::exit::{CommandError, Exit};
use crate::file::open;
use std::io::Read;
use std::path::Path;
use teamlog_team::GivenReceipt;
use teamlog_team::receipt::key::ReceiptSigner;

/// Maximum size of a receipt file in bytes. The file may hold the whole answer that contains the receipt.
const RECEIPT_BYTES_MAX: u64 = 8 << 20;

/// Reads the value of `--last-receipt`, which is a receipt or `@FILE`. Refuses a wrong signature.
pub(super) fn presented(env: &ProcessEnv, text: &str) -> Result<GivenReceipt, CommandError> {
    let given = match text.strip_prefix('@') {
        Some(file) => receipt_file(env, "last_receipt", Path::new(file))?,
        None => GivenReceipt::read(text)?,
    };
    check_own_signature(&given)?;
    Ok(given)
}

/// Checks the signature with the key inside the receipt. A wrong signature gives the same error as a receipt that does not
/// match the log.
pub fn check_own_signature(given: &GivenReceipt) -> Result<Option<ReceiptSigner>, CommandError> {
    let checked = given.check(None);
    checked.map_err(|refusal| CommandError::from(refusal).ending(Exit::Damaged))
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
