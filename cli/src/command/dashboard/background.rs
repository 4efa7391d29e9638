//! Finds the running daemon of a data root, or starts a daemon that outlives this command.

use crate::command::serve::{found, refused};
use crate::exit::{CommandError, Exit};
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use teamlog_server::Running;
use teamlog_server::lock::own_dir;

/// Name of the log file of a daemon that this command starts.
const LOG_FILE: &str = "serve.log";
/// Time limit for the start of a daemon. The daemon checks every team first.
const START_DEADLINE: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(20);
/// Maximum number of bytes of the daemon's log that an error message repeats.
const TOLD_BYTES_MAX: u64 = 4 << 10;

/// Returns the running daemon. The path is the daemon's log file if this call started the daemon.
pub fn daemon(root: &Path) -> Result<(Running, Option<PathBuf>), CommandError> {
    if let Some(running) = found(root)? {
        return Ok((running, None));
    }
    let failed = |what: &str, path: &Path, error: &io::Error| {
        CommandError::io(what, &path.display().to_string(), error)
    };
    let place = root
        .canonicalize()
        .map_err(|error| failed("find", root, &error))?;
    let path = own_dir(&place).map_err(refused)?.join(LOG_FILE);
    let log = log(&path).map_err(|error| failed("write", &path, &error))?;
    let mut child = begun(&place, log).map_err(|error| failed("start", &place, &error))?;
    let until = Instant::now() + START_DEADLINE;
    loop {
        let ended = child
            .try_wait()
            .map_err(|error| failed("start", &place, &error))?;
        if let Some(running) = found(root)? {
            // Another process may have started a daemon first.
            let ours = running.pid == child.id();
            return Ok((running, ours.then_some(path)));
        }
        if ended.is_some() || Instant::now() >= until {
            let message = "the daemon did not start";
            return Err(
                CommandError::new(Exit::Unavailable, "daemon_not_running", message).or_hint(
                    format!(
                        "the daemon's output is in {}:\n{}",
                        path.display(),
                        told(&path)
                    ),
                ),
            );
        }
        thread::sleep(LOOK);
    }
}

/// Starts `teamlog serve` in a new session, so that the daemon keeps running after the terminal is closed.
fn begun(root: &Path, log: File) -> io::Result<Child> {
    let program = std::env::current_exe()?;
    Command::new(program)
        .arg("--data-root")
        .arg(root)
        .args(["serve", "--detached", "--listen", &address(root)])
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
}

/// Returns the address of the last daemon if that daemon was killed and its port is free, so that open pages can
/// reconnect. Else returns an address with any free port.
fn address(root: &Path) -> String {
    let before = teamlog_server::runtime::left_behind(root);
    let free = before.filter(|address| TcpListener::bind(address).is_ok());
    free.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 0)))
        .to_string()
}

/// Creates or truncates the log file. Only its owner can read the file.
fn log(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
        .open(path)
}

fn told(path: &Path) -> String {
    let mut text = Vec::new();
    let read = File::open(path).and_then(|file| file.take(TOLD_BYTES_MAX).read_to_end(&mut text));
    match read {
        Ok(_) => String::from_utf8_lossy(&text).trim_end().to_owned(),
        Err(error) => error.to_string(),
    }
}
