//! The daemon of a data root: the one that runs, else one that is started behind this command and outlives it.

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

/// What a daemon that was started here writes to.
const LOG_FILE: &str = "serve.log";
/// How long it may take to be there: it looks at every team first.
const START_DEADLINE: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(20);
/// Of what it wrote before it ended, as much is told.
const TOLD_BYTES_MAX: u64 = 4 << 10;

/// The daemon, and what it writes to if it was started now.
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
            // Another one may have been faster.
            let ours = running.pid == child.id();
            return Ok((running, ours.then_some(path)));
        }
        if ended.is_some() || Instant::now() >= until {
            let message = "the daemon must run, but did not start";
            return Err(
                CommandError::new(Exit::Unavailable, "daemon_not_running", message).or_hint(
                    format!("what it said is in {}:\n{}", path.display(), told(&path)),
                ),
            );
        }
        thread::sleep(LOOK);
    }
}

/// This program, as `serve`, in a session of its own: what ends the terminal does not end it.
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

/// Where the daemon before it listened, if that one was killed and the place is free: pages that are open find the new one
/// there. Else any free port.
fn address(root: &Path) -> String {
    let before = teamlog_server::runtime::left_behind(root);
    let free = before.filter(|address| TcpListener::bind(address).is_ok());
    free.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 0)))
        .to_string()
}

/// For its user alone, and emptied: what an earlier one said is of no use any more.
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
