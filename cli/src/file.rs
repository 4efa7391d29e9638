//! Files that the user names.

use crate::env::ProcessEnv;
use crate::exit::{CommandError, Exit};
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A file that the user named.
pub fn open(env: &ProcessEnv, flag: &str, path: &Path) -> Result<File, CommandError> {
    let shown = path.display();
    let file = env.open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            CommandError::invalid(flag, format!("{flag} file not found: {shown}"))
        }
        _ => CommandError::io("open", &format!("{flag} file {shown}"), &error),
    })?;
    // Opening one works; reading from it would fail later, when something may have been done.
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        let message = format!("{flag} must be a file, but {shown} is a directory");
        return Err(CommandError::invalid(flag, message));
    }
    Ok(file)
}

/// Refuses a file with a secret that others than its owner may read or write.
pub fn check_private(flag: &str, path: &Path, file: &File) -> Result<(), CommandError> {
    let shown = path.display();
    let looking = |error| CommandError::io("look at", &shown.to_string(), &error);
    let mode = file.metadata().map_err(looking)?.mode() & 0o777;
    if mode & 0o077 == 0 {
        return Ok(());
    }
    let message =
        format!("{flag} file {shown} must be readable by its owner alone, but has mode {mode:03o}");
    Err(CommandError::new(Exit::Refused, "key_exposed", message).about(flag))
}
