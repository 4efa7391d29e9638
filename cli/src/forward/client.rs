//! Client of the daemon's socket, with blocking reads and writes.

use super::Reply;
use super::connection::Connection;
use super::runtime::Runtime;
use crate::exit::{CommandError, Exit};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;
use teamlog_server::forward::{PROTOCOL, receive, send};
use teamlog_server::upgrade::VERSION_HEADER;

/// Version of this program. The daemon must have an equal version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Time limit for the daemon to accept a request.
const ANSWER_DEADLINE: Duration = Duration::from_secs(10);
/// Minimum of the time limit for a local daemon to accept a request, if the wait for locks is shorter.
const ANSWER_LEAST: Duration = Duration::from_secs(3);
/// Time limit for sending, if a daemon on another machine accepts no more bytes.
const SEND_DEADLINE: Duration = Duration::from_secs(60);
/// Maximum size of the HTTP head of a reply in bytes.
const HEAD_BYTES_MAX: u64 = 8 << 10;

/// A connection with a read buffer.
pub type Stream = BufReader<Box<dyn Connection>>;

pub(super) enum Exchange {
    /// A reply arrived. The connection is still open.
    Replied(Box<Reply>, Stream),
    /// No daemon listens on the socket.
    Nowhere,
    /// The connection ended before the whole request was sent. The daemon did nothing.
    HungUp,
    /// The connection ended without a reply after the request was sent.
    Lost,
}

/// The daemon that receives a request.
pub trait Peer {
    /// Returns the value of the `Host` header.
    fn host(&self) -> String;
    /// Returns the token for the daemon, if the daemon needs a token.
    fn token(&self) -> Option<&str>;
    /// Makes the error for a daemon with another version.
    fn mismatch(&self) -> CommandError;
    /// Returns the time limit for sending, while the daemon accepts no bytes.
    fn send_deadline(&self) -> Option<Duration> {
        self.token().map(|_| SEND_DEADLINE)
    }
    /// Makes the error for a receiver that does not behave like a teamlog daemon.
    fn unreachable(&self, but: &str) -> CommandError;
}

impl Peer for Runtime {
    fn host(&self) -> String {
        "localhost".to_owned()
    }

    fn token(&self) -> Option<&str> {
        None
    }

    fn mismatch(&self) -> CommandError {
        let message = format!(
            "the daemon of this team has version {}, but this program has {VERSION}",
            self.version
        );
        CommandError::new(Exit::Unavailable, "daemon_version_mismatch", message)
    }

    fn unreachable(&self, but: &str) -> CommandError {
        let message = format!(
            "the daemon of this team (pid {}) did not accept the command: {but}",
            self.pid
        );
        CommandError::unreachable(message)
    }
}

/// Time limits of one request.
pub(super) struct Deadlines {
    /// Time limit for the daemon to accept the request.
    pub answer: Duration,
    /// Time limit for the reply. `None` means no limit.
    pub reply: Option<Duration>,
}

impl Deadlines {
    /// Returns the limits for a daemon on another machine.
    pub fn within(reply: Option<Duration>, step_limit: Option<Duration>) -> Deadlines {
        let answer = ANSWER_DEADLINE;
        Deadlines { answer, reply }.at_most(step_limit)
    }

    /// Returns the limits for a daemon on this machine. A stopped daemon holds its locks and accepts nothing, so the limit for
    /// accepting equals the limit for locks.
    pub fn here(lock_deadline: Duration, step_limit: Option<Duration>) -> Deadlines {
        let answer = ANSWER_DEADLINE.min(lock_deadline.max(ANSWER_LEAST));
        let reply = None;
        Deadlines { answer, reply }.at_most(step_limit)
    }

    fn at_most(self, step_limit: Option<Duration>) -> Deadlines {
        let Some(most) = step_limit else {
            return self;
        };
        Deadlines {
            answer: self.answer.min(most),
            reply: Some(self.reply.map_or(most, |reply| reply.min(most))),
        }
    }
}

/// Sends a request to the local daemon, and waits for the reply.
///
/// # Errors
/// Exit 69: the daemon has another version, or the reply is not from a teamlog daemon. Exit 75: the daemon is overloaded. Exit
/// 77: the daemon belongs to another user.
pub(super) fn exchange(
    runtime: &Runtime,
    request: &[u8],
    deadlines: Deadlines,
) -> Result<Exchange, CommandError> {
    let Some(stream) = runtime.socket.as_deref().and_then(connected) else {
        return Ok(Exchange::Nowhere);
    };
    check_peer(&stream)?;
    exchanged(Box::new(stream), runtime, request, deadlines)
}

/// Sends the request over an open connection, and reads the reply.
pub(super) fn exchanged(
    connection: Box<dyn Connection>,
    peer: &impl Peer,
    request: &[u8],
    deadlines: Deadlines,
) -> Result<Exchange, CommandError> {
    let mut connection = BufReader::new(connection);
    if !upgraded(&mut connection, peer, deadlines.answer)? {
        return Ok(Exchange::HungUp);
    }
    if let Some(deadline) = peer.send_deadline() {
        let silent = |_: io::Error| peer.unreachable("takes nothing");
        connection
            .get_ref()
            .within(Some(deadline))
            .map_err(silent)?;
    }
    if send(connection.get_mut(), request).is_err() {
        // With a token, the connection can go through a proxy, and the proxy can have passed on the whole request. So
        // the outcome is unknown.
        return Ok(match peer.token() {
            None => Exchange::HungUp,
            Some(_) => Exchange::Lost,
        });
    }
    if connection.get_ref().within(deadlines.reply).is_err() {
        return Ok(Exchange::Lost);
    }
    Ok(match received(&mut connection) {
        Some(reply) => Exchange::Replied(Box::new(reply), connection),
        None => Exchange::Lost,
    })
}

/// Reads the next reply. Returns `None` if the connection ended.
pub(super) fn received(connection: &mut Stream) -> Option<Reply> {
    serde_json::from_slice(&receive(connection).ok()?).ok()
}

/// Connects to the socket. Returns `None` if no daemon listens, because a killed daemon leaves its socket file.
fn connected(socket: &Path) -> Option<UnixStream> {
    UnixStream::connect(socket).ok()
}

/// Checks that the daemon runs as the current user, because requests may be confidential.
pub fn check_peer(stream: &UnixStream) -> Result<(), CommandError> {
    #[cfg(target_os = "linux")]
    {
        let failed = |error| CommandError::io("check", "the daemon", &io::Error::from(error));
        let peer = rustix::net::sockopt::socket_peercred(stream).map_err(failed)?;
        if peer.uid != rustix::process::geteuid() {
            let message = format!(
                "the daemon belongs to user {}, not to you",
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

/// Upgrades the connection from HTTP. Returns false if the daemon closed the connection, as a stopping daemon does.
fn upgraded(from: &mut Stream, peer: &impl Peer, deadline: Duration) -> Result<bool, CommandError> {
    let silent = |_: io::Error| peer.unreachable("does not answer");
    let authorization = peer.token().map_or_else(String::new, |token| {
        format!("Authorization: Bearer {token}\r\n")
    });
    let head = format!(
        "GET / HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\nUpgrade: {PROTOCOL}\r\n{authorization}\
         {VERSION_HEADER}: {VERSION}\r\n\r\n",
        peer.host()
    );
    let connection = from.get_mut();
    connection.within(Some(deadline)).map_err(silent)?;
    let sent = connection.write_all(head.as_bytes());
    if sent.and_then(|()| connection.flush()).is_err() {
        return Ok(false);
    }
    let status = match status(from) {
        Ok(Some(status)) => status,
        // The daemon closed the connection before it read the request.
        Ok(None) => return Ok(false),
        Err(error) if !is_deadline(&error) => return Ok(false),
        Err(error) => return Err(silent(error)),
    };
    from.get_ref().within(None).map_err(silent)?;
    match status {
        101 => Ok(true),
        // A daemon of an older version uses another name for the protocol.
        400 => Err(other_build()),
        401 => Err(unknown_token()),
        409 => Err(peer.mismatch()),
        429 => Err(too_often()),
        503 => Err(busy()),
        status => {
            let but = match status {
                0 => "does not speak as one".to_owned(),
                status => format!("answers with {status}"),
            };
            Err(peer.unreachable(&but))
        }
    }
}

/// Reads the HTTP head of the reply. Returns the status, 0 for a text that is not an HTTP head, or `None` if the connection
/// ended.
fn status(from: &mut Stream) -> io::Result<Option<u16>> {
    let mut from = from.by_ref().take(HEAD_BYTES_MAX);
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

fn status_of(line: &[u8]) -> Option<u16> {
    let number = line.strip_prefix(b"HTTP/1.1 ")?.get(..3)?;
    str::from_utf8(number).ok()?.parse().ok()
}

fn is_deadline(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}

fn unknown_token() -> CommandError {
    let message = "the daemon does not accept the token of TEAMLOG_TOKEN_FILE: it is unknown there, or was revoked";
    CommandError::new(Exit::NotPermitted, "unauthorized", message)
        .or_hint("ask the operator of the daemon for another token")
}

fn other_build() -> CommandError {
    let message = format!(
        "the daemon of this team does not support {PROTOCOL}: it was started from another build of teamlog {VERSION}"
    );
    CommandError::new(Exit::Unavailable, "daemon_version_mismatch", message)
        .or_hint("stop the daemon and start it again")
}

fn too_often() -> CommandError {
    let message = "too many calls a second with this token; nothing was done";
    CommandError::new(Exit::Locked, "rate_limited", message).or_hint("try again in a second")
}

fn busy() -> CommandError {
    let message = "the daemon of this team is busy with other commands; nothing was done";
    CommandError::new(Exit::Locked, "busy", message).or_hint("try again")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_gives_each_answer_of_a_daemon_a_second() {
        let seconds = Duration::from_secs;
        let told = |deadlines: Deadlines| (deadlines.answer, deadlines.reply);
        let hook = Some(seconds(1));
        let short = (seconds(1), hook);
        for deadlines in [
            Deadlines::here(seconds(10), hook),
            Deadlines::here(seconds(0), hook),
            Deadlines::within(None, hook),
            Deadlines::within(Some(seconds(60)), hook),
        ] {
            assert_eq!(told(deadlines), short);
        }
        let typed = Deadlines::here(seconds(10), None);
        assert_eq!(told(typed), (ANSWER_DEADLINE, None));
        let typed = Deadlines::here(seconds(0), None);
        assert_eq!(told(typed), (ANSWER_LEAST, None));
    }
}
