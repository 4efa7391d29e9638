//! Forwarded commands: requests that are not HTTP. Such requests come from the daemon's own user over the Unix
//! socket, and from agents on other machines over TLS. Each connection carries one request and one answer.
//!
//! The client opens an HTTP connection and upgrades it (`Upgrade: teamlog-forward/2`). Client and daemon must have equal
//! versions, because another version may interpret the messages differently. After the 101 reply, each side sends messages: a
//! length (`u32`, little-endian) and that number of bytes. The implementation of [`Forward`] defines their contents.

mod message;

pub use message::{BYTES_MAX, receive, send};

use crate::served::Served;
use crate::upgrade::UpgradedConnection;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use teamlog_team::command::deadline::Deadline;
use tokio::sync::OwnedSemaphorePermit;

/// Name of the protocol for upgraded connections, with its version.
pub const PROTOCOL: &str = "teamlog-forward/2";
/// Name of the protocol without its version.
pub(crate) const PROTOCOL_NAME: &str = "teamlog-forward";

/// Maximum time from the 101 reply to the end of the request. Also the maximum time in which a client accepts no byte of an
/// answer.
const MESSAGE_DEADLINE: Duration = Duration::from_secs(10);
/// Maximum time for receiving a whole request from another machine. The largest request needs about 1 MB/s.
const REMOTE_DEADLINE: Duration = Duration::from_secs(60);
/// Interval at which waiting code checks if the daemon must stop.
const LOOK: Duration = Duration::from_millis(250);

/// Handler of requests on upgraded connections.
pub trait Forward: Send + Sync {
    /// Answers one request. Blocks until the answer is sent.
    ///
    /// # Errors
    /// The caller disconnected.
    fn answer(&self, served: &Arc<Served>, request: &[u8], caller: &Arc<Caller>) -> io::Result<()>;
}

/// Receives and answers the request of a client. Blocks. A client that disconnects or sends an invalid request gets no
/// answer.
pub(crate) fn exchange(
    served: &Arc<Served>,
    mut link: UpgradedConnection,
    forward: &dyn Forward,
) -> io::Result<()> {
    link.stream().set_write_timeout(Some(MESSAGE_DEADLINE))?;
    let (request, _room) = received(&mut link)?;
    if link.is_revoked() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let caller = Arc::new(Caller {
        served: served.clone(),
        admitted: link.caller().cloned(),
        link: Mutex::new(link),
    });
    forward.answer(served, &request, &caller)
}

/// Receives a request and reserves memory for it. The time limit is for the whole request, so a slow client cannot extend it.
fn received(link: &mut UpgradedConnection) -> io::Result<(Vec<u8>, Option<OwnedSemaphorePermit>)> {
    let within = match link.caller() {
        None => MESSAGE_DEADLINE,
        Some(_) => REMOTE_DEADLINE,
    };
    let mut timely = Timely {
        until: Instant::now() + within,
        link,
    };
    let length = message::length(&mut timely)?;
    let room = timely.link.room(length)?;
    Ok((message::body(&mut timely, length)?, room))
}

/// A reader with a deadline for all reads together. Each read also waits at most [`MESSAGE_DEADLINE`].
struct Timely<'a> {
    until: Instant,
    link: &'a mut UpgradedConnection,
}

impl io::Read for Timely<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let stream = self.link.stream();
        stream.set_read_timeout(Some(left.min(MESSAGE_DEADLINE)))?;
        self.link.read(buf)
    }
}

/// The client of a request. The client may disconnect at any time.
#[derive(Debug)]
pub struct Caller {
    served: Arc<Served>,
    admitted: Option<crate::Caller>,
    link: Mutex<UpgradedConnection>,
}

impl Caller {
    /// Returns the agent if the client is on another machine. Returns `None` for the daemon's own user.
    pub fn admitted(&self) -> Option<&crate::Caller> {
        self.admitted.as_ref()
    }

    fn with<A>(&self, act: impl FnOnce(&mut UpgradedConnection) -> A) -> A {
        act(&mut self.link.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sends a message to the client.
    ///
    /// # Errors
    /// The client disconnected, or accepted nothing for too long.
    pub fn send(&self, message: &[u8]) -> io::Result<()> {
        self.with(|link| send(link, message))
    }

    /// Receives a message that the client sends after its request.
    ///
    /// # Errors
    /// The client disconnected, or sent nothing for too long.
    pub fn receive(&self) -> io::Result<Vec<u8>> {
        self.with(|link| received(link).map(|(message, _)| message))
    }

    /// Runs `act`, which waits for other agents, until the client disconnects or the daemon stops. Frees the client's working
    /// slot meanwhile. Returns `None` without running `act` if too many clients wait already.
    pub fn wait<A>(self: &Arc<Caller>, act: impl FnOnce(&Deadline) -> A) -> Option<A> {
        if !self.with(UpgradedConnection::waits) {
            return None;
        }
        let caller = self.clone();
        let done = act(&Deadline::as_long_as(move || {
            caller.is_awaited(Duration::ZERO)
        }));
        self.with(UpgradedConnection::works);
        Some(done)
    }

    /// Blocks until the client disconnects or the daemon stops. Uses a waiting slot if one is free.
    pub fn wait_for_end(&self) {
        self.with(UpgradedConnection::waits);
        while self.is_awaited(LOOK) {}
    }

    /// Returns true while the client waits for the answer. The client has nothing more to send, so input or the end of
    /// the stream means false.
    fn is_awaited(&self, within: Duration) -> bool {
        let left = self.with(|link| link.hears(within));
        !self.served.is_stopping() && !left.unwrap_or(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local_slots::LocalSlots;
    use std::os::unix::net::UnixStream;
    use teamlog_team::{Root, RootOptions};

    /// A closure as a handler of requests.
    struct Act<F>(F);

    impl<F: Fn(&Served, &Arc<Caller>) + Send + Sync> Forward for Act<F> {
        fn answer(
            &self,
            served: &Arc<Served>,
            request: &[u8],
            caller: &Arc<Caller>,
        ) -> io::Result<()> {
            assert_eq!(request, b"request");
            (self.0)(served, caller);
            caller.send(b"answer")
        }
    }

    /// Runs `act` as the answer to a client that stays or disconnects. Returns the result of the exchange, and the
    /// message that the client received.
    fn answered(
        slots: &Arc<LocalSlots>,
        stays: bool,
        act: impl Fn(&Served, &Arc<Caller>) + Send + Sync,
    ) -> (io::Result<()>, Option<Vec<u8>>) {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::open(dir.path(), RootOptions::default()).unwrap();
        let served = Arc::new(Served::new(root));
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        send(&mut theirs, b"request").unwrap();
        let theirs = stays.then_some(theirs);
        let link = UpgradedConnection::new(ours, Vec::new(), slots.take().unwrap());
        let ended = exchange(&served, link, &Act(act));
        let heard = theirs.map(|mut theirs| receive(&mut theirs).unwrap());
        (ended, heard)
    }

    #[test]
    fn a_wait_leaves_its_slot_and_lasts_until_the_caller_hangs_up_or_the_daemon_stops() {
        let slots = LocalSlots::new(1, 1);
        let (ended, heard) = answered(&slots, true, |served, caller| {
            assert!(slots.take().is_none());
            let waited = caller.wait(|deadline| {
                assert!(slots.take().is_some());
                assert!(!deadline.is_over());
                served.stop();
                assert!(deadline.is_over());
            });
            assert_eq!(waited, Some(()));
            assert!(slots.take().is_none());
            caller.wait_for_end();
        });
        ended.unwrap();
        assert_eq!(heard.as_deref(), Some(&b"answer"[..]));
        let (ended, _) = answered(&slots, false, |_, caller| {
            assert_eq!(caller.wait(Deadline::is_over), Some(true));
            caller.wait_for_end();
        });
        assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn nobody_waits_where_as_many_do_as_may() {
        let slots = LocalSlots::new(1, 0);
        let (ended, _) = answered(&slots, true, |_, caller| {
            assert!(caller.wait(|_| ()).is_none());
        });
        ended.unwrap();
    }
}
