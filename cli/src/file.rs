//! Opens and creates files that the user names.

use crate::env::ProcessEnv;
use crate::exit::{CommandError, Exit};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

pub fn open(env: &ProcessEnv, flag: &str, path: &Path) -> Result<File, CommandError> {
    let shown = path.display();
    let file = env.open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            CommandError::invalid(flag, format!("{flag} file not found: {shown}"))
        }
        _ => CommandError::io("open", &format!("{flag} file {shown}"), &error),
    })?;
    // Opening a directory succeeds, but reading it would fail later, after other work was done.
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        let message = format!("{flag} must be a file, but {shown} is a directory");
        return Err(CommandError::invalid(flag, message));
    }
    Ok(file)
}

/// Refuses a secret file that other users may read or write.
pub fn check_private(flag: &str, path: &Path, file: &File) -> Result<(), CommandError> {
    let shown = path.display();
    let looking = |error| CommandError::io("look at", &shown.to_string(), &error);
    let mode = file.metadata().map_err(looking)?.mode() & 0o777;
    if mode & 0o077 == 0 {
        return Ok(());
    }
    let message = format!(
        "{flag} file {shown} can be read by others (mode {mode:03o}); only you may have access"
    );
    Err(CommandError::new(Exit::Refused, "key_exposed", message).about(flag))
}

/// Creates the file of `--out` with permissions `mode`. If the file exists, fails with the error code `exists`.
pub fn create(exists: &str, path: &Path, mode: u32) -> Result<File, CommandError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(mode);
    options.open(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            let message = format!("file {} exists already", path.display());
            CommandError::new(Exit::Refused, exists, message).about("out")
        }
        io::ErrorKind::NotFound => {
            let message = format!(
                "cannot create file {}: its directory does not exist",
                path.display()
            );
            CommandError::invalid("out", message)
        }
        _ => failed("create", path)(error),
    })
}

/// Writes and syncs a new file.
pub fn fill(mut file: File, path: &Path, text: &str) -> Result<(), CommandError> {
    file.write_all(text.as_bytes())
        .and_then(|()| file.sync_all())
        .map_err(failed("write", path))
}

/// Syncs the directory of a new file, so that the name of the file is durable.
pub fn sync_names(path: &Path) -> Result<(), CommandError> {
    let dir = match path.parent() {
        Some(dir) if dir != Path::new("") => dir,
        _ => Path::new("."),
    };
    File::open(dir)
        .and_then(|dir| dir.sync_all())
        .map_err(failed("sync", dir))
}

/// Returns a function that makes the error for a failure of a secret file.
pub fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> CommandError {
    let shown = path.display().to_string();
    move |error| CommandError::io(doing, &format!("file {shown}"), &error)
}
