//! Requests of the daemon's own user, on its Unix socket, and of agents on other machines, over TLS, that are no HTTP: one a
//! connection, with one answer.
//!
//! A request comes over an HTTP connection that is upgraded (`Upgrade: teamlog-forward/2`): caller and daemon must be of one
//! version, since another one may understand the same words in another way. After the 101 each side sends messages: a
//! length (`u32`, little-endian) and so many bytes. What they mean is the business of whoever implements [`Forward`].

mod message;

pub use message::{BYTES_MAX, receive, send};

use crate::served::Served;
use crate::upgrade::UpgradedConnection;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use teamlog_team::command::deadline::Deadline;
use tokio::sync::OwnedSemaphorePermit;

/// The protocol that a connection is upgraded to, with the version of its messages.
pub const PROTOCOL: &str = "teamlog-forward/2";
/// How the names of all versions of the protocol begin.
pub(crate) const PROTOCOL_NAME: &str = "teamlog-forward";

/// From the 101 to the end of the request, and how long a caller may take nothing of what it is sent.
const MESSAGE_DEADLINE: Duration = Duration::from_secs(10);
/// How long another machine may take for all of a message: some 1 MB/s for the largest.
const REMOTE_DEADLINE: Duration = Duration::from_secs(60);
/// How often to look whether the daemon stops.
const LOOK: Duration = Duration::from_millis(250);

/// Answers requests.
pub trait Forward: Send + Sync {
    /// Answers one. Blocks until that is done.
    ///
    /// # Errors
    /// The caller went away.
    fn answer(&self, served: &Arc<Served>, request: &[u8], caller: &Arc<Caller>) -> io::Result<()>;
}

/// Has the request of one client answered. Blocks. One that is gone, or sends what is no request, has nothing to be told.
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

/// A request, and the room that it takes. All of it has to come in time, however it trickles.
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

/// Reads until a moment, and for no longer than [`MESSAGE_DEADLINE`] at a time.
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

/// Whoever sent a request, as far as it is still there.
#[derive(Debug)]
pub struct Caller {
    served: Arc<Served>,
    admitted: Option<crate::Caller>,
    link: Mutex<UpgradedConnection>,
}

impl Caller {
    /// The agent on another machine that it is; nothing for the daemon's own user.
    pub fn admitted(&self) -> Option<&crate::Caller> {
        self.admitted.as_ref()
    }

    fn with<A>(&self, act: impl FnOnce(&mut UpgradedConnection) -> A) -> A {
        act(&mut self.link.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sends it a message.
    ///
    /// # Errors
    /// It is gone, or takes nothing.
    pub fn send(&self, message: &[u8]) -> io::Result<()> {
        self.with(|link| send(link, message))
    }

    /// Receives what it sends behind its request.
    ///
    /// # Errors
    /// It is gone, or sends nothing for too long.
    pub fn receive(&self) -> io::Result<Vec<u8>> {
        self.with(|link| received(link).map(|(message, _)| message))
    }

    /// Does what waits for others to do something, until the caller hangs up or the daemon stops. Meanwhile its slot is free
    /// for others; `None` where as many wait already as may, and nothing was done.
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

    /// Blocks until the caller hangs up or the daemon stops. A slot among those that wait is taken where one is free.
    pub fn wait_for_end(&self) {
        self.with(UpgradedConnection::waits);
        while self.is_awaited(LOOK) {}
    }

    /// Whether somebody still waits. Nothing more is due from the caller: it hung up, or sends what it must not.
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

    /// Does what it is told with its caller.
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

    /// Lets `act` answer a caller that stays, or is gone before the daemon looks; how that ended, and what the caller heard.
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
