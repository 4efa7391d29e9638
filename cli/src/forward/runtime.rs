//! Reads `teams/<team>/runtime.json`. The daemon writes its address to this file.

use crate::exit::{CommandError, Exit};
use rustix::fs::OFlags;
use serde::Deserialize;
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use teamlog_server::runtime::RUNTIME_FILE;
use teamlog_team::handle::root::TEAMS_DIR;

/// Maximum number of bytes that are read from the file.
const BYTES_MAX: u64 = 64 << 10;

/// The fields of `runtime.json` that the command line uses. Other fields are ignored, because later versions will add some.
#[derive(Debug, Clone, Deserialize)]
pub struct Runtime {
    #[serde(default)]
    pub pid: u32,
    /// Path of the socket for forwarded calls.
    #[serde(default)]
    pub socket: Option<PathBuf>,
    #[serde(default)]
    pub version: String,
}

impl Runtime {
    /// Reads the `runtime.json` of a team. Returns `None` if there is no such file.
    ///
    /// # Errors
    /// Other users may write the file, so it cannot be trusted; the file cannot be read.
    pub fn of_team(root: &Path, team: &str) -> Result<Option<Runtime>, CommandError> {
        let path = Runtime::place(root, team);
        match open(&path) {
            Ok(file) => Runtime::read(file, &path).map(Some),
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(None),
                _ if error.raw_os_error() == Some(LOOP) => {
                    Err(exposed(&path, "is a symbolic link"))
                }
                _ => Err(unreadable("open", &path, &error)),
            },
        }
    }

    pub fn place(root: &Path, team: &str) -> PathBuf {
        root.join(TEAMS_DIR).join(team).join(RUNTIME_FILE)
    }

    fn read(file: File, path: &Path) -> Result<Runtime, CommandError> {
        let failed = |error: io::Error| unreadable("read", path, &error);
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Err(exposed(path, "is no file"));
        }
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(exposed(path, "belongs to another user"));
        }
        if metadata.mode() & 0o077 != 0 {
            let mode = metadata.mode() & 0o777;
            return Err(exposed(path, &format!("has mode {mode:03o}")));
        }
        let mut text = Vec::new();
        file.take(BYTES_MAX)
            .read_to_end(&mut text)
            .map_err(failed)?;
        // serde also accepts an array for a struct, but only an object is valid here.
        let object = serde_json::from_slice(&text).map(Value::Object);
        object.and_then(serde_json::from_value).map_err(|error| {
            let message = format!("{} was not written by a daemon: {error}", path.display());
            CommandError::unreachable(message).or_hint(removal(path))
        })
    }
}

/// Makes the error for an unreadable `runtime.json`. The command was not carried out.
fn unreadable(doing: &str, path: &Path, error: &io::Error) -> CommandError {
    let hint = match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "the command was not carried out; a daemon of another user may serve this data root, and only that user can use it".to_owned()
        }
        _ => removal(path),
    };
    CommandError::io(doing, &path.display().to_string(), error).or_hint(hint)
}

fn removal(path: &Path) -> String {
    format!(
        "the command was not carried out; if `teamlog serve --status` finds no daemon, remove {}",
        path.display()
    )
}

const LOOP: i32 = rustix::io::Errno::LOOP.raw_os_error();

/// Opens a regular file. Does not follow a symlink, and does not wait for the writer of a pipe.
fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)
}

fn exposed(path: &Path, but: &str) -> CommandError {
    let message = format!(
        "{} may have been written by another user: it {but}",
        path.display()
    );
    CommandError::new(Exit::NotPermitted, "not_permitted", message)
        .or_hint("stop the daemon, remove the file and start it again")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn what_a_damaged_file_leads_to_was_not_tried() {
        let root = tempfile::tempdir().unwrap();
        let path = Runtime::place(root.path(), "demo");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        for content in [&b""[..], b"{", b"\xff\xfe", b"[1]", &[0; 100]] {
            std::fs::write(&path, content).unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
            let error = Runtime::of_team(root.path(), "demo").unwrap_err();
            assert_eq!(error.code(), "daemon_unreachable", "{content:?}");
            let hint = error.hint().unwrap();
            assert!(
                hint.starts_with("the command was not carried out"),
                "{content:?}: {hint}"
            );
        }
    }
}
