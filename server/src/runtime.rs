//! `runtime.json`: what a client of a team needs to know, for the team's owner alone. It holds the token, which is
//! nowhere else. One more lies in the data root itself, whose token reaches every team.

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

/// The file's name in a team's directory, and in the data root.
pub use teamlog_team::handle::root::RUNTIME_FILE;
const SCHEMA_VERSION: &str = "1.0.0";
const FILE_BYTES_MAX: u64 = 64 * 1024;
/// Files that are written at a time when the daemon starts.
const AT_ONCE: usize = 16;

/// What stands in `runtime.json`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Runtime {
    /// Where the daemon listens for HTTP.
    pub url: String,
    /// The token: of the team, or of the root.
    pub token: String,
    /// The daemon's process.
    pub pid: u32,
    /// Of this file.
    pub schema_version: String,
    /// The daemon's Unix socket.
    pub socket: PathBuf,
    /// The daemon's version.
    pub version: String,
    /// The team; `null` in the data root.
    pub team_id: Option<String>,
    /// Since when the daemon runs.
    pub started_at: String,
}

/// Writes and removes the files of the teams that one daemon serves, and that of the root.
#[derive(Debug)]
pub(crate) struct Runtimes {
    root: PathBuf,
    running: Running,
    /// One change at a time, so that what is compared with is what was written.
    turn: Mutex<()>,
}

impl Runtimes {
    /// For the teams of that data root.
    pub fn new(root: PathBuf, running: Running) -> Runtimes {
        Runtimes {
            root,
            running,
            turn: Mutex::default(),
        }
    }

    /// Who is told.
    pub fn running(&self) -> &Running {
        &self.running
    }

    /// Gives a team a new token, and serves it; without a team the root.
    pub fn publish(&self, served: &Served, team: Option<&str>) -> io::Result<()> {
        let _turn = self.turn.lock();
        self.give(served, team)
    }

    /// The same for many teams at once: what takes the time is the disk, which syncs many files as fast as one.
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
                    // No thread could be started for these.
                    Err(teams) => teams.iter().try_for_each(give),
                };
                outcome = outcome.and(given);
            }
            outcome
        })
    }

    /// Writes the file of a team that is served, or of the root, where somebody took it away; its token went with it.
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

    /// The file of a team or of the root with a new token, and what that is compared with.
    fn text(&self, team: Option<&str>) -> io::Result<(Vec<u8>, Digest)> {
        let token = token::new()?;
        let digest = Digest::of(token.as_bytes());
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

    /// Serves a team no longer, and takes its file away if it is ours; without a team that of the root.
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

    /// The directory of a team, or of the root.
    fn directory(&self, team: Option<&str>) -> io::Result<OwnedFd> {
        let Some(team) = team else {
            return opened(&self.root);
        };
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let path = self.root.join(TEAMS_DIR).join(team);
        Ok(rustix::fs::open(path, flags, Mode::empty())?)
    }
}

/// The data root, which may be named by a link.
fn opened(root: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(root, flags, Mode::empty())?)
}

/// Where the daemon listened whose file still stands in a data root: it runs, or it was killed.
pub fn left_behind(root: &Path) -> Option<SocketAddr> {
    let found = read(&opened(root).ok()?).ok()??;
    let address: SocketAddr = found.url.strip_prefix("http://")?.parse().ok()?;
    address.ip().is_loopback().then_some(address)
}

/// Tells git to leave the file of the root alone, where that lies in a repository. A file that tells git something already
/// is somebody else's, and a failure keeps no daemon from its work.
fn ignore(dir: &OwnedFd) {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(0o666);
    if let Ok(file) = rustix::fs::openat(dir, ignored::IGNORE_FILE, flags, mode) {
        let _ = File::from(file).write_all(ignored::of_root().as_bytes());
    }
}

/// Writes the file aside and puts it in the place of the one that is there, whatever that is. It is whole whenever the
/// machine stops; which of the two is there then does not matter, for neither has a daemon any more.
fn replace(dir: &OwnedFd, text: &[u8]) -> io::Result<()> {
    let aside = format!(".{RUNTIME_FILE}.new");
    // One that a crash left has no other owner: only the holder of the root's lock writes here.
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
