//! A call on the daemon's socket, from the caller's side: plain blocking reads and writes, and HTTP for one exchange.

use super::runtime::Runtime;
use crate::exit::{CommandError, Exit};
use crate::surroundings::{Source, Surroundings};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;
use teamlog_server::forward::frame::{self, CHUNK, Frame, STDIN};
use teamlog_server::forward::{ForwardedCall, PROTOCOL};
use teamlog_server::takeover::VERSION_HEADER;

/// This program's version, which has to be the daemon's as well.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// How long the daemon may take to say that it listens.
const ANSWER_DEADLINE: Duration = Duration::from_secs(10);
/// Most bytes of the head of its answer.
const HEAD_BYTES_MAX: u64 = 8 << 10;
/// Most files that a call may have open.
const FILES_MAX: usize = 16;

/// Hands the call over and serves it to its end; gives the exit code, or nothing where nobody takes it.
///
/// # Errors
/// Exit 69: the daemon is of another version, does not answer as one, or went away in the middle; exit 77: it is somebody
/// else's.
pub fn call(
    runtime: &Runtime,
    call: ForwardedCall,
    surroundings: &Surroundings,
) -> Result<Option<u8>, CommandError> {
    let Some(stream) = runtime.socket.as_deref().and_then(connected) else {
        return Ok(None);
    };
    check_peer(&stream)?;
    let team = call.team.clone();
    let mut link = Link {
        stream: BufReader::new(stream),
        files: Vec::new(),
        stdin: None,
        surroundings,
    };
    match link.upgraded(runtime)? {
        Taken::No => return Ok(None),
        Taken::Yes => {}
    }
    link.serve(call).map_err(|_| gone(&team))
}

/// A connection, if there is anybody: what is left of a daemon that was killed is a file that nobody listens on.
fn connected(socket: &Path) -> Option<UnixStream> {
    UnixStream::connect(socket).ok()
}

/// Only our own daemon may see what we do.
pub fn check_peer(stream: &UnixStream) -> Result<(), CommandError> {
    #[cfg(target_os = "linux")]
    {
        let failed = |error| CommandError::io("look at", "the daemon", &io::Error::from(error));
        let peer = rustix::net::sockopt::socket_peercred(stream).map_err(failed)?;
        if peer.uid != rustix::process::geteuid() {
            let message = format!(
                "the daemon must be yours, but belongs to user {}",
                peer.uid.as_raw()
            );
            return Err(CommandError::new(
                Exit::NotPermitted,
                "not_permitted",
                message,
            ));
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = stream;
    Ok(())
}

/// Whether the daemon takes calls.
#[derive(Debug, PartialEq, Eq)]
enum Taken {
    Yes,
    /// It is on its way out; the lock will be free.
    No,
}

struct Link<'a> {
    stream: BufReader<UnixStream>,
    /// Those that were opened for the daemon; the first one has the number behind [`STDIN`].
    files: Vec<Source>,
    /// Standard input, once it was wanted.
    stdin: Option<Box<dyn BufRead>>,
    surroundings: &'a Surroundings,
}

impl Link<'_> {
    /// Asks for the connection to become one of frames.
    fn upgraded(&mut self, runtime: &Runtime) -> Result<Taken, CommandError> {
        let silent = |_: io::Error| unreachable_daemon(runtime, "does not answer");
        let head = format!(
            "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: {PROTOCOL}\r\n\
             {VERSION_HEADER}: {VERSION}\r\n\r\n"
        );
        let stream = self.stream.get_mut();
        let deadline = Some(ANSWER_DEADLINE);
        stream.set_read_timeout(deadline).map_err(silent)?;
        stream.set_write_timeout(deadline).map_err(silent)?;
        if stream.write_all(head.as_bytes()).is_err() {
            return Ok(Taken::No);
        }
        let status = match self.status() {
            Ok(Some(status)) => status,
            // It hung up before it knew what is wanted.
            Ok(None) => return Ok(Taken::No),
            Err(error) => return Err(silent(error)),
        };
        let stream = self.stream.get_mut();
        stream.set_read_timeout(None).map_err(silent)?;
        stream.set_write_timeout(None).map_err(silent)?;
        match status {
            101 => Ok(Taken::Yes),
            409 => Err(mismatch(&runtime.version)),
            503 => Err(busy()),
            status => {
                let but = match status {
                    0 => "does not speak as one".to_owned(),
                    status => format!("answers with {status}"),
                };
                Err(unreachable_daemon(runtime, &but))
            }
        }
    }

    /// The status of the daemon's answer, whose head is read to its end.
    fn status(&mut self) -> io::Result<Option<u16>> {
        let mut from = self.stream.by_ref().take(HEAD_BYTES_MAX);
        let mut line = String::new();
        if from.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let number = line
            .strip_prefix("HTTP/1.1 ")
            .and_then(|rest| rest.get(..3));
        let status = number.and_then(|number| number.parse().ok()).unwrap_or(0);
        while !line.trim_end().is_empty() {
            line.clear();
            if from.read_line(&mut line)? == 0 {
                return Ok(Some(0));
            }
        }
        Ok(Some(status))
    }

    /// Does what the daemon asks for until it says how it ended.
    fn serve(&mut self, call: ForwardedCall) -> io::Result<Option<u8>> {
        self.send(&Frame::Call(call))?;
        loop {
            let answer = match frame::receive(&mut self.stream)? {
                Frame::Exit(code) => return Ok(Some(code)),
                Frame::Elsewhere => return Ok(None),
                Frame::Err(bytes) => {
                    self.surroundings.say_bytes(&bytes);
                    continue;
                }
                Frame::Out(bytes) => self.written(&bytes),
                Frame::Open(path) => self.opened(&path),
                // It speaks again without an answer: it waits for none any more.
                Frame::Want(handle) if self.hears_before(handle) => continue,
                Frame::Want(handle) => self.input(handle),
                Frame::Run(child) => Ok(Frame::Ended(self.surroundings.run(&child))),
                _ => return Err(io::ErrorKind::InvalidData.into()),
            };
            let answer = answer.unwrap_or_else(|error| frame::failed(&error));
            // A daemon that stops does not wait for it, and has said all else.
            let _ = self.send(&answer);
        }
    }

    /// Waits until there is something to read in a file, or the daemon says something; whether that is it.
    fn hears_before(&self, handle: u32) -> bool {
        if !self.stream.buffer().is_empty() {
            return true;
        }
        let stdin = self.surroundings.stdin_awaited();
        let input = match (file_of(handle), &stdin) {
            (None, Some(stdin)) => stdin.as_fd(),
            (Some(at), _) => match self.files.get(at) {
                Some(Source::Here(file)) => file.as_fd(),
                _ => return false,
            },
            (None, None) => return false,
        };
        let socket = PollFd::new(self.stream.get_ref(), PollFlags::IN);
        let mut fds = [socket, PollFd::from_borrowed_fd(input, PollFlags::IN)];
        // What cannot be waited for is read, and says why it cannot be.
        while let Err(Errno::INTR) = poll(&mut fds, None) {}
        let [socket, _] = &fds;
        !socket.revents().is_empty()
    }

    fn send(&mut self, frame: &Frame) -> io::Result<()> {
        frame::send(self.stream.get_mut(), frame)
    }

    fn written(&mut self, bytes: &[u8]) -> io::Result<Frame> {
        let mut out = self.surroundings.stdout();
        out.write_all(bytes)?;
        out.flush()?;
        Ok(Frame::Written)
    }

    fn opened(&mut self, path: &Path) -> io::Result<Frame> {
        if self.files.len() >= FILES_MAX {
            return Err(io::Error::other("too many open files of one call"));
        }
        self.files.push(self.surroundings.open(path)?);
        let handle = u32::try_from(self.files.len()).map_err(io::Error::other)?;
        Ok(Frame::Opened(STDIN + handle))
    }

    fn input(&mut self, handle: u32) -> io::Result<Frame> {
        let mut bytes = vec![0; CHUNK];
        let count = match file_of(handle) {
            None => {
                let stdin = self.stdin.get_or_insert_with(|| self.surroundings.stdin());
                stdin.read(&mut bytes)?
            }
            Some(file) => match self.files.get_mut(file) {
                Some(file) => file.read(&mut bytes)?,
                None => return Err(io::ErrorKind::InvalidInput.into()),
            },
        };
        bytes.truncate(count);
        Ok(Frame::Input(bytes))
    }
}

/// Which of the files a number means; none is standard input.
fn file_of(handle: u32) -> Option<usize> {
    usize::try_from(handle).ok()?.checked_sub(1)
}

fn mismatch(version: &str) -> CommandError {
    let message = format!(
        "the daemon that holds this team must be of version {VERSION}, as this program is, but is of version {version}"
    );
    CommandError::new(Exit::Unavailable, "daemon_version_mismatch", message).or_hint(|| {
        "restart the daemon with this program: teamlog serve --stop, then teamlog serve".to_owned()
    })
}

fn busy() -> CommandError {
    let message = "the daemon that holds this team runs as many commands as it can";
    CommandError::new(Exit::Locked, "busy", message).or_hint(|| "try again".to_owned())
}

fn unreachable_daemon(runtime: &Runtime, but: &str) -> CommandError {
    let message = format!(
        "the daemon that holds this team (pid {}) must take the command, but {but}",
        runtime.pid
    );
    CommandError::new(Exit::Unavailable, "daemon_unreachable", message)
        .or_hint(|| "teamlog serve --status".to_owned())
}

fn gone(team: &str) -> CommandError {
    let message = "the daemon went away before it said how the command ended";
    CommandError::new(Exit::Unavailable, "daemon_gone", message).or_hint(|| {
        let team = crate::render::shell::quoted(team);
        format!(
            "whether it was recorded is unknown; look before you repeat it:\n\
             teamlog replay {team} --reverse --limit 5 --json"
        )
    })
}
