//! `runtime.json`: the connection data of a team, readable only by its owner. The file contains the team's token,
//! which is stored nowhere else. The data root also has a `runtime.json`, whose token gives access to all teams.

use crate::running::Running;
use crate::served::Served;
use crate::token::{self, Digest};
use rustix::fs::{AtFlags, Mode, OFlags};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use teamlog_team::handle::root::TEAMS_DIR;
use teamlog_team::lifecycle::ignored;

/// Name of the file in a team's directory and in the data root.
pub use teamlog_team::handle::root::RUNTIME_FILE;
const SCHEMA_VERSION: &str = "1.0.0";
const FILE_BYTES_MAX: u64 = 64 * 1024;
/// Number of files that are written concurrently at the start of the daemon.
const AT_ONCE: usize = 16;

/// Contents of `runtime.json`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Runtime {
    /// URL for HTTP.
    pub url: String,
    /// Token of the team or of the root.
    pub token: String,
    /// Process id of the daemon.
    pub pid: u32,
    /// Version of the format of `runtime.json`.
    pub schema_version: String,
    /// Path of the Unix socket.
    pub socket: PathBuf,
    /// Version of the daemon.
    pub version: String,
    /// Name of the team; `null` in the data root's file.
    pub team_id: Option<String>,
    /// Start time of the daemon.
    pub started_at: String,
}

/// Writes and removes the `runtime.json` files of the served teams and of the data root.
#[derive(Debug)]
pub(crate) struct Runtimes {
    root: PathBuf,
    running: Running,
    /// Lock that is held during each change, so that the file and the stored digest match.
    turn: Mutex<()>,
}

impl Runtimes {
    /// Creates the writer for a data root.
    pub fn new(root: PathBuf, running: Running) -> Runtimes {
        Runtimes {
            root,
            running,
            turn: Mutex::default(),
        }
    }

    /// Returns the daemon that the files describe.
    pub fn running(&self) -> &Running {
        &self.running
    }

    /// Creates a new token for a team, writes its file, and starts to serve the team. `None` means the data root.
    pub fn publish(&self, served: &Served, team: Option<&str>) -> io::Result<()> {
        let _turn = self.turn.lock();
        self.give(served, team)
    }

    /// Publishes many teams concurrently, because a disk syncs many files in about the time of one file.
    pub fn publish_all(
        &self,
        served: &Served,
        teams: &[String],
    ) -> Result<(), (String, io::Error)> {
        let _turn = self.turn.lock();
        let share = teams.len().div_ceil(AT_ONCE).max(1);
        let give = |team: &String| {
            self.give(served, Some(team))
                .map_err(|error| (team.clone(), error))
        };
        std::thread::scope(|scope| {
            let shares = teams.chunks(share);
            let threads: Vec<_> = shares
                .map(|teams| {
                    let giving = move || teams.iter().try_for_each(give);
                    let started = std::thread::Builder::new().spawn_scoped(scope, giving);
                    started.map_err(|_| teams)
                })
                .collect();
            let mut outcome = Ok(());
            for started in threads {
                let given = match started {
                    Ok(thread) => thread.join().unwrap_or_else(|_| {
                        let panicked = io::Error::other("a thread panicked");
                        Err((String::new(), panicked))
                    }),
                    // No thread could be started for these teams, so publish them on this thread.
                    Err(teams) => teams.iter().try_for_each(give),
                };
                outcome = outcome.and(given);
            }
            outcome
        })
    }

    /// Writes the file of a team or of the data root again if it was removed. The old token is lost with the file, so the new
    /// file has a new token. `None` means the data root.
    pub fn replenish(&self, served: &Served, team: Option<&str>) -> io::Result<()> {
        let _turn = self.turn.lock();
        let is_served = match team {
            Some(team) => served.serves(team),
            None => !served.is_stopping(),
        };
        let dir = self.directory(team)?;
        match rustix::fs::statat(&dir, RUNTIME_FILE, AtFlags::SYMLINK_NOFOLLOW) {
            Err(rustix::io::Errno::NOENT) if is_served => self.give(served, team),
            Err(rustix::io::Errno::NOENT) | Ok(_) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn give(&self, served: &Served, team: Option<&str>) -> io::Result<()> {
        let (text, digest) = self.text(team)?;
        let dir = self.directory(team)?;
        if team.is_none() {
            ignore(&dir);
        }
        replace(&dir, &text)?;
        match team {
            Some(team) => served.serve(team, digest),
            None => served.serve_whole(digest),
        }
        Ok(())
    }

    /// Returns the content of a file with a new token, and the digest of the token.
    fn text(&self, team: Option<&str>) -> io::Result<(Vec<u8>, Digest)> {
        let token = token::new()?;
        let digest = Digest::new(token.as_bytes());
        let running = self.running.clone();
        let runtime = Runtime {
            url: running.url,
            token,
            pid: running.pid,
            schema_version: SCHEMA_VERSION.to_owned(),
            socket: running.socket,
            version: running.version,
            team_id: team.map(str::to_owned),
            started_at: running.started_at,
        };
        let mut text = serde_json::to_vec(&runtime)?;
        text.push(b'\n');
        Ok((text, digest))
    }

    /// Stops serving a team, and removes its file if this daemon wrote it. `None` means the data root.
    pub fn withdraw(&self, served: &Served, team: Option<&str>) -> io::Result<()> {
        let _turn = self.turn.lock();
        if let Some(team) = team {
            served.forget(team);
        }
        let dir = match self.directory(team) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            dir => dir?,
        };
        let Some(found) = read(&dir)? else {
            return Ok(());
        };
        let ours = found.pid == self.running.pid && found.started_at == self.running.started_at;
        if ours {
            rustix::fs::unlinkat(&dir, RUNTIME_FILE, AtFlags::empty())?;
        }
        Ok(())
    }

    /// Opens the directory of a team, or the data root for `None`.
    fn directory(&self, team: Option<&str>) -> io::Result<OwnedFd> {
        let Some(team) = team else {
            return opened(&self.root);
        };
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let path = self.root.join(TEAMS_DIR).join(team);
        Ok(rustix::fs::open(path, flags, Mode::empty())?)
    }
}

/// Opens the data root, which may be a symlink.
fn opened(root: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(root, flags, Mode::empty())?)
}

/// Returns the address in the file of the data root. The daemon of that address runs, or was killed.
pub fn left_behind(root: &Path) -> Option<SocketAddr> {
    let found = read(&opened(root).ok()?).ok()??;
    let address: SocketAddr = found.url.strip_prefix("http://")?.parse().ok()?;
    address.ip().is_loopback().then_some(address)
}

/// Makes git ignore the file of the data root, in case the root is inside a repository. An existing `.gitignore` stays, and
/// errors are ignored.
fn ignore(dir: &OwnedFd) {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(0o666);
    if let Ok(file) = rustix::fs::openat(dir, ignored::IGNORE_FILE, flags, mode) {
        let _ = File::from(file).write_all(ignored::of_root().as_bytes());
    }
}

/// Writes a temporary file and renames it over the old file. After a crash, either the old or the new file exists,
/// and it is complete. In both cases, the daemon that the file describes has ended.
fn replace(dir: &OwnedFd, text: &[u8]) -> io::Result<()> {
    let aside = format!(".{RUNTIME_FILE}.new");
    // The daemon holds the lock of the data root, so an existing temporary file was left by a crash.
    match rustix::fs::unlinkat(dir, &aside, AtFlags::empty()) {
        Err(rustix::io::Errno::NOENT) | Ok(()) => {}
        Err(error) => return Err(error.into()),
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(dir, &aside, flags, Mode::RUSR | Mode::WUSR)?;
    let mut file = File::from(file);
    file.write_all(text)?;
    file.sync_all()?;
    rustix::fs::renameat(dir, &aside, dir, RUNTIME_FILE)?;
    Ok(())
}

fn read(dir: &OwnedFd) -> io::Result<Option<Runtime>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(dir, RUNTIME_FILE, flags, Mode::empty()) {
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::LOOP) => return Ok(None),
        file => file?,
    };
    let mut text = Vec::new();
    File::from(file)
        .take(FILE_BYTES_MAX)
        .read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text).ok())
}
