//! Connections that are upgraded: on the Unix socket, and over TLS, a client may ask for another protocol than HTTP.

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

/// Which version a client is of, and which the daemon is.
pub const VERSION_HEADER: &str = "teamlog-version";

/// A connection that was upgraded. Reading and writing block.
#[derive(Debug)]
pub struct UpgradedConnection {
    stream: UnixStream,
    /// What the client said before it knew that it may.
    early: io::Cursor<Vec<u8>>,
    slot: LocalSlot,
    remote: Option<Remote>,
}

/// What is known of an agent on another machine.
#[derive(Debug)]
struct Remote {
    caller: Caller,
    /// Ends once its token is worth nothing any more.
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
    /// The same, of an agent on another machine.
    pub(crate) fn of(
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
    /// The agent on another machine that it belongs to; nothing for the daemon's own user.
    pub fn caller(&self) -> Option<&Caller> {
        self.remote.as_ref().map(|remote| &remote.caller)
    }
    /// Whether the token that it was let in with is worth nothing any more.
    pub(crate) fn is_revoked(&self) -> bool {
        let remote = self.remote.as_ref();
        remote.is_some_and(|remote| remote.revoked.is_cancelled())
    }
    /// Keeps room for so many bytes of a request; none where others of other machines take it all.
    pub(crate) fn room(&self, bytes: u32) -> io::Result<Option<OwnedSemaphorePermit>> {
        let Some(remote) = &self.remote else {
            return Ok(None);
        };
        let room = remote.bodies.clone().try_acquire_many_owned(bytes);
        room.map(Some)
            .map_err(|_| io::ErrorKind::OutOfMemory.into())
    }
    /// The socket beneath, for its time limits.
    pub fn stream(&self) -> &UnixStream {
        &self.stream
    }
    /// Whether the client says something within that time, or has hung up.
    ///
    /// # Errors
    /// The system's.
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
    /// From here on the client waits for something outside of the daemon, and its slot is free for others; `false` where
    /// no more clients may wait.
    pub fn waits(&mut self) -> bool {
        self.slot.wait()
    }
    /// The client no longer waits.
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
