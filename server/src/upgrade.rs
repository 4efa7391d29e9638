//! Upgraded connections: a client on the Unix socket or over TLS can switch from HTTP to another protocol.

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

/// Header with the version of the client in a request, and of the daemon in a reply.
pub const VERSION_HEADER: &str = "teamlog-version";

/// An upgraded connection with blocking reads and writes.
#[derive(Debug)]
pub struct UpgradedConnection {
    stream: UnixStream,
    /// Bytes that the client sent before it received the reply to the upgrade.
    early: io::Cursor<Vec<u8>>,
    slot: LocalSlot,
    remote: Option<Remote>,
}

/// An agent on another machine.
#[derive(Debug)]
struct Remote {
    caller: Caller,
    /// Canceled when the agent's token becomes invalid.
    revoked: CancellationToken,
    /// Number of bytes of requests that can be held in memory.
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
    /// Returns the agent if the client is on another machine. Returns `None` for the daemon's own user.
    pub fn caller(&self) -> Option<&Caller> {
        self.remote.as_ref().map(|remote| &remote.caller)
    }
    /// Returns true if the token of the connection became invalid.
    pub(crate) fn is_revoked(&self) -> bool {
        let remote = self.remote.as_ref();
        remote.is_some_and(|remote| remote.revoked.is_cancelled())
    }
    /// Reserves memory for a request. Returns `None` for the daemon's own user, who needs no reservation.
    ///
    /// # Errors
    /// Requests from other machines use all of the memory.
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
    /// Waits for input. Returns true if the client sends something or disconnects in time.
    ///
    /// # Errors
    /// I/O errors.
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
    /// Exchanges the working slot for a waiting slot while the client waits for something outside of the daemon.
    /// Returns `false` if too many clients wait already.
    pub fn waits(&mut self) -> bool {
        self.slot.wait()
    }
    /// Returns to a working slot after the wait.
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
