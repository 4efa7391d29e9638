//! A call on the daemon's socket, from the caller's side: plain blocking reads and writes, and HTTP for one exchange.

use super::runtime::Runtime;
use super::unknown::{Repeat, outcome_unknown};
use crate::env::{ProcessEnv, Source};
use crate::exit::{CommandError, Exit};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;
use teamlog_server::forward::frame::{self, CHUNK, Frame, STDIN};
use teamlog_server::forward::{ForwardedCall, PROTOCOL};
use teamlog_server::upgrade::VERSION_HEADER;

/// This program's version, which has to be the daemon's as well.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// How long the daemon may take to say that it listens.
const ANSWER_DEADLINE: Duration = Duration::from_secs(10);
/// Most bytes of the head of its answer.
const HEAD_BYTES_MAX: u64 = 8 << 10;
/// Most bytes that a call may say; an answer has far fewer.
const OUTPUT_BYTES_MAX: usize = 64 << 20;
/// Most files that a call may have open.
const FILES_MAX: usize = 16;

/// What became of a call that was to be handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallEnd {
    /// It was carried out, and its process is to end with that.
    Ended(u8),
    /// Nobody takes it.
    Nowhere,
    /// The connection ended before all of the call was sent, so that nothing was done.
    HungUp,
}

/// Hands the call over and serves it to its end. What it says is shown once it has ended, and not before: of a call whose
/// end is not known, nothing is.
///
/// # Errors
/// Exit 69: the daemon is of another version, or does not answer as one; exit 74: it went away in the middle, or what the
/// call said cannot be written; exit 77: it is somebody else's.
pub fn call(
    runtime: &Runtime,
    call: &ForwardedCall,
    repeat: Repeat,
    env: &ProcessEnv,
) -> Result<CallEnd, CommandError> {
    let Some(stream) = runtime.socket.as_deref().and_then(connected) else {
        return Ok(CallEnd::Nowhere);
    };
    check_peer(&stream)?;
    let mut link = Link {
        stream: BufReader::new(stream),
        files: Vec::new(),
        stdin: None,
        output: CallOutput::default(),
        env,
    };
    if link.upgraded(runtime)? == Upgrade::Refused || link.send(&Frame::Call(call.clone())).is_err()
    {
        return Ok(CallEnd::HungUp);
    }
    match link.serve() {
        Ok(Some(code)) => {
            link.output.show(env)?;
            Ok(CallEnd::Ended(code))
        }
        Ok(None) => Ok(CallEnd::Nowhere),
        Err(_) => Err(outcome_unknown(&call.team, repeat)),
    }
}

/// What a call has said so far.
#[derive(Default)]
struct CallOutput {
    /// In its order; `true` for standard output.
    chunks: Vec<(bool, Vec<u8>)>,
    bytes: usize,
}

impl CallOutput {
    fn keep(&mut self, is_out: bool, chunk: Vec<u8>) -> io::Result<()> {
        self.bytes = self.bytes.saturating_add(chunk.len());
        if self.bytes > OUTPUT_BYTES_MAX {
            return Err(io::ErrorKind::InvalidData.into());
        }
        self.chunks.push((is_out, chunk));
        Ok(())
    }

    fn show(self, env: &ProcessEnv) -> Result<(), CommandError> {
        let mut out = env.stdout();
        let mut written = Ok(());
        for (is_out, chunk) in self.chunks {
            match is_out {
                false => env.say_bytes(&chunk),
                true if written.is_ok() => {
                    written = out.write_all(&chunk).and_then(|()| out.flush());
                }
                true => {}
            }
        }
        match written {
            // A reader that left is no error.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(CommandError::unwritten(&error))
            }
            _ => Ok(()),
        }
    }
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
enum Upgrade {
    Accepted,
    /// It hung up, as one does that is on its way out.
    Refused,
}

struct Link<'a> {
    stream: BufReader<UnixStream>,
    /// Those that were opened for the daemon; the first one has the number behind [`STDIN`].
    files: Vec<Source>,
    /// Standard input, once it was wanted.
    stdin: Option<Box<dyn BufRead>>,
    output: CallOutput,
    env: &'a ProcessEnv,
}

impl Link<'_> {
    /// Asks for the connection to become one of frames.
    fn upgraded(&mut self, runtime: &Runtime) -> Result<Upgrade, CommandError> {
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
            return Ok(Upgrade::Refused);
        }
        let status = match self.status() {
            Ok(Some(status)) => status,
            // It hung up before it was told what is wanted.
            Ok(None) => return Ok(Upgrade::Refused),
            Err(error) if !is_deadline(&error) => return Ok(Upgrade::Refused),
            Err(error) => return Err(silent(error)),
        };
        let stream = self.stream.get_mut();
        stream.set_read_timeout(None).map_err(silent)?;
        stream.set_write_timeout(None).map_err(silent)?;
        match status {
            101 => Ok(Upgrade::Accepted),
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

    /// The status of the daemon's answer, whose head is read to its end; 0 where it is none, nothing where it hung up.
    fn status(&mut self) -> io::Result<Option<u16>> {
        let mut from = self.stream.by_ref().take(HEAD_BYTES_MAX);
        let mut status = None;
        loop {
            let mut line = Vec::new();
            from.read_until(b'\n', &mut line)?;
            match (status, line.trim_ascii()) {
                _ if !line.ends_with(b"\n") => return Ok((from.limit() == 0).then_some(0)),
                (None, line) => status = Some(status_of(line).unwrap_or(0)),
                (Some(0), _) | (_, []) => return Ok(status),
                _ => {}
            }
        }
    }

    /// Does what the daemon asks for until it says how it ended.
    fn serve(&mut self) -> io::Result<Option<u8>> {
        loop {
            let answer = match frame::receive(&mut self.stream)? {
                Frame::Exit(code) => return Ok(Some(code)),
                Frame::Elsewhere => return Ok(None),
                Frame::Err(bytes) if is_progress(&bytes) => {
                    self.env.say_bytes(&bytes);
                    continue;
                }
                Frame::Err(bytes) => {
                    self.output.keep(false, bytes)?;
                    continue;
                }
                Frame::Out(bytes) => {
                    self.output.keep(true, bytes)?;
                    Ok(Frame::Written)
                }
                Frame::Open(path) => self.opened(&path),
                // The daemon no longer waits for this input; read its next frame.
                Frame::Want(handle) if self.hears_before(handle) => continue,
                Frame::Want(handle) => self.input(handle),
                Frame::Run(child) => Ok(Frame::Ended(self.env.run(&child))),
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
        let stdin = self.env.stdin_awaited();
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

    fn opened(&mut self, path: &Path) -> io::Result<Frame> {
        if self.files.len() >= FILES_MAX {
            return Err(io::Error::other("too many open files of one call"));
        }
        self.files.push(self.env.open(path)?);
        let handle = u32::try_from(self.files.len()).map_err(io::Error::other)?;
        Ok(Frame::Opened(STDIN + handle))
    }

    fn input(&mut self, handle: u32) -> io::Result<Frame> {
        let mut bytes = vec![0; CHUNK];
        let count = match file_of(handle) {
            None => {
                let stdin = self.stdin.get_or_insert_with(|| self.env.stdin());
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

fn status_of(line: &[u8]) -> Option<u16> {
    let number = line.strip_prefix(b"HTTP/1.1 ")?.get(..3)?;
    str::from_utf8(number).ok()?.parse().ok()
}

/// A bar that is drawn while somebody watches; no part of what is answered.
fn is_progress(text: &[u8]) -> bool {
    text.starts_with(b"\r")
}

fn is_deadline(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
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
