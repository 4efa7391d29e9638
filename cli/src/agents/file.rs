//! Reads, replaces and removes a configuration file. Readers of the file never see a partly written file.

use super::json_text::JsonText;
use crate::exit::CommandError;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Maximum size of a configuration file, far above the size of any agent's settings.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Returns the target of a symlink, because a write replaces the target and not the symlink.
pub fn followed(file: PathBuf) -> PathBuf {
    fs::canonicalize(&file).unwrap_or(file)
}

/// Returns the content of the file, or `None` if the file does not exist.
pub fn read(file: &Path) -> Result<Option<String>, CommandError> {
    let failed = |error| CommandError::io("read", &file.display().to_string(), &error);
    let size = match fs::metadata(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
        Ok(found) if !found.is_file() => return Err(unusable(file, "it is not a file")),
        Ok(found) => found.len(),
    };
    match size > FILE_BYTES_MAX {
        true => Err(unusable(file, "it is too large")),
        false => fs::read_to_string(file).map(Some).map_err(failed),
    }
}

/// Parses the text of the file as JSON settings.
pub fn json(file: &Path, text: Option<&str>) -> Result<JsonText, CommandError> {
    JsonText::parse(text).map_err(|why| unusable(file, &why))
}

/// Makes the error for an unusable file. `why` is the end of the message's sentence.
pub fn unusable(file: &Path, why: &str) -> CommandError {
    let message = format!("{} cannot be read as settings: {why}", file.display());
    CommandError::invalid("file", message)
}

/// Replaces a file atomically and keeps its permissions.
pub fn replace(file: &Path, content: &str) -> Result<(), CommandError> {
    let failed = |error: io::Error| CommandError::io("write", &file.display().to_string(), &error);
    let dir = file.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(dir).map_err(failed)?;
    let aside = dir.join(format!(".teamlog-{}.tmp", std::process::id()));
    let mode = fs::metadata(file).map(|found| found.permissions()).ok();
    let written = write_aside(&aside, content, mode).and_then(|()| fs::rename(&aside, file));
    if written.is_err() {
        // Ignore this error, because the first error is reported.
        let _ = fs::remove_file(&aside);
    }
    written.map_err(failed)?;
    File::open(dir)
        .and_then(|dir| dir.sync_all())
        .map_err(failed)
}

fn write_aside(aside: &Path, content: &str, mode: Option<fs::Permissions>) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o644)
        .open(aside)?;
    file.write_all(content.as_bytes())?;
    if let Some(mode) = mode {
        file.set_permissions(mode)?;
    }
    file.sync_all()
}

/// Removes a file, and then the directories below `top` that are empty.
pub fn remove(file: &Path, top: &Path) -> Result<(), CommandError> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            let file = file.display().to_string();
            return Err(CommandError::io("remove", &file, &error));
        }
        _ => {}
    }
    let top = followed(top.to_owned());
    let above = file.ancestors().skip(1);
    for dir in above.take_while(|dir| dir.starts_with(&top) && *dir != top) {
        // The directory is not empty.
        if fs::remove_dir(dir).is_err() {
            break;
        }
    }
    Ok(())
}
