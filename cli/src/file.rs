//! Files that the user names.

use crate::env::ProcessEnv;
use crate::exit::CommandError;
use std::fs::File;
use std::io;
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
