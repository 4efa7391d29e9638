//! Upgraded connections: a client on the Unix socket or over TLS may switch from HTTP to another protocol.

use crate::caller::Caller;
use crate::local_slots::LocalSlot;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// Header with the version of the client, and of the daemon.
pub const VERSION_HEADER: &str = "teamlog-version";

/// An upgraded connection, blocking.
#[derive(Debug)]
pub struct UpgradedConnection {
    stream: UnixStream,
    /// Bytes that the client sent before the upgrade was answered.
    early: io::Cursor<Vec<u8>>,
    slot: LocalSlot,
    remote: Option<Remote>,
}

/// State of an agent on another machine.
#[derive(Debug)]
struct Remote {
    caller: Caller,
    /// Canceled when its token is no longer valid.
    revoked: CancellationToken,
    /// Bytes of requests that may still be read.
    bodies: Arc<Semaphore>,
}

impl UpgradedConnection {
    pub(crate) fn new(stream: UnixStream, early: Vec<u8>, slot: LocalSlot) -> UpgradedConnection {
        UpgradedConnection {
            stream,
            early: io::Cursor::new(early),
            slot,
            remote: None,
        }
    }
    /// Returns the connection of an agent on another machine.
    pub(crate) fn for_agent(
        self,
        caller: Caller,
        revoked: CancellationToken,
        bodies: Arc<Semaphore>,
    ) -> UpgradedConnection {
        let remote = Remote {
            caller,
            revoked,
            bodies,
        };
        UpgradedConnection {
            remote: Some(remote),
            ..self
        }
    }
    /// Returns the agent on another machine; `None` for the daemon's own user.
    pub fn caller(&self) -> Option<&Caller> {
        self.remote.as_ref().map(|remote| &remote.caller)
    }
    /// Returns true if the token of the connection is no longer valid.
    pub(crate) fn is_revoked(&self) -> bool {
        let remote = self.remote.as_ref();
        remote.is_some_and(|remote| remote.revoked.is_cancelled())
    }
    /// Reserves memory for a request; `None` for the daemon's own user.
    ///
    /// # Errors
    /// If other machines' requests use all of it.
    pub(crate) fn room(&self, bytes: u32) -> io::Result<Option<OwnedSemaphorePermit>> {
        let Some(remote) = &self.remote else {
            return Ok(None);
        };
        let room = remote.bodies.clone().try_acquire_many_owned(bytes);
        room.map(Some)
            .map_err(|_| io::ErrorKind::OutOfMemory.into())
    }
    /// Returns the underlying socket, for its timeouts.
    pub fn stream(&self) -> &UnixStream {
        &self.stream
    }
    /// Returns true if the client sends something or disconnects within the time.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn hears(&self, within: Duration) -> io::Result<bool> {
        let early = self.early.get_ref().len();
        if usize::try_from(self.early.position()).is_ok_and(|read| read < early) {
            return Ok(true);
        }
        let within = Timespec::try_from(within).map_err(io::Error::other)?;
        let mut fds = [PollFd::new(&self.stream, PollFlags::IN)];
        match poll(&mut fds, Some(&within)) {
            Ok(heard) => Ok(heard > 0),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
    /// Gives the working slot to others while the client waits for something outside of the daemon; returns `false` if
    /// no more clients may wait.
    pub fn waits(&mut self) -> bool {
        self.slot.wait()
    }
    /// Ends the wait.
    pub fn works(&mut self) {
        self.slot.work();
    }
}

impl Read for UpgradedConnection {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self.early.read(buf)? {
            0 => self.stream.read(buf),
            read => Ok(read),
        }
    }
}

impl Write for UpgradedConnection {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.stream.write(buf)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}
