//! Accepting: as many connections as there may be, and a fast "no" for one more.

use crate::admission::busy;
use crate::connection::converse;
use crate::connection_slots::{Connection, ConnectionSlots};
use crate::front::Front;
use crate::state::AppState;
use crate::tls::Certificate;
use crate::via::Via;
use crate::wire::watched::{self, Io};
use rustix::net::sockopt;
use std::future::{Future, ready};
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_util::either::Either;

/// How long those who are turned away are listened to, so that they can read why.
const TURNED_AWAY_FOR: Duration = Duration::from_millis(500);
/// How long the loop rests when the system has nothing left for another connection.
const REST: Duration = Duration::from_millis(50);
/// Connections that may wait to be accepted. Where the queue is full the system drops what asks for one more, and the
/// client tries again only after a second.
const QUEUE: i32 = 4096;

/// Lets as many wait as the system allows; the standard library asks for 128, which one crowd fills.
pub(crate) fn widen(listener: &impl AsFd) -> io::Result<()> {
    Ok(rustix::net::listen(listener, QUEUE)?)
}

/// What a listener needs.
pub(crate) trait Listen {
    /// A connection as it is accepted.
    type Raw: AsyncRead + AsyncWrite + Unpin + Send + 'static;
    /// Waits for one. `None` is one of somebody whom nothing is told.
    fn next(&self) -> impl Future<Output = io::Result<Option<Self::Raw>>> + Send;
    /// What has to happen before it can be spoken on; `None` where that fails.
    fn opened(&self, raw: Self::Raw) -> impl Future<Output = Option<Io>> + Send + 'static;
}

impl Listen for TcpListener {
    type Raw = TcpStream;
    async fn next(&self) -> io::Result<Option<TcpStream>> {
        let (stream, _) = self.accept().await?;
        // Answers are written whole; nothing is gained by waiting for more.
        let _ = stream.set_nodelay(true);
        Ok(Some(stream))
    }
    fn opened(&self, raw: TcpStream) -> impl Future<Output = Option<Io>> + Send + 'static {
        ready(Some(Either::Right(Either::Left(raw))))
    }
}

/// TCP that other machines reach.
pub(crate) struct TlsListener {
    pub tcp: TcpListener,
    pub certificate: Arc<Certificate>,
    /// How long a handshake may take.
    pub within: Duration,
}

impl Listen for TlsListener {
    type Raw = TcpStream;
    async fn next(&self) -> io::Result<Option<TcpStream>> {
        let accepted = self.tcp.next().await;
        if let Ok(Some(stream)) = &accepted {
            // A machine that is gone says so to nobody; without it what waits for it is merely kept for longer.
            let _ = keep_alive(stream);
        }
        accepted
    }
    fn opened(&self, raw: TcpStream) -> impl Future<Output = Option<Io>> + Send + 'static {
        let shaken = timeout(self.within, self.certificate.acceptor().accept(raw));
        async move {
            let stream = shaken.await.ok()?.ok()?;
            Some(Either::Right(Either::Right(Box::new(stream))))
        }
    }
}

/// Has the system end the connection once the other machine has said nothing for half a minute, whether it is asked whether it
/// is still there or has bytes to acknowledge.
pub fn keep_alive(stream: &impl AsFd) -> rustix::io::Result<()> {
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, Duration::from_secs(15))?;
    sockopt::set_tcp_keepintvl(stream, Duration::from_secs(5))?;
    sockopt::set_tcp_keepcnt(stream, 3)?;
    sockopt::set_tcp_user_timeout(stream, 30_000)
}

impl Listen for UnixListener {
    type Raw = UnixStream;
    async fn next(&self) -> io::Result<Option<UnixStream>> {
        let (stream, _) = self.accept().await?;
        let peer = stream.peer_cred()?.uid();
        let ours = rustix::process::geteuid().as_raw();
        Ok((peer == ours).then_some(stream))
    }
    fn opened(&self, raw: UnixStream) -> impl Future<Output = Option<Io>> + Send + 'static {
        ready(Some(Either::Left(raw)))
    }
}

/// Accepts until the daemon stops; ends when the last connection has ended.
pub(crate) async fn accept<L: Listen>(listener: L, via: Via, state: Arc<AppState>) {
    let front = Front::new(via, state.clone());
    let slots = ConnectionSlots::new(state.limits.connections);
    let turned_away = Arc::new(Semaphore::new(state.limits.turned_away));
    loop {
        let accepted = tokio::select! {
            () = state.drain.cancelled() => break,
            accepted = listener.next() => accepted,
        };
        let io = match accepted {
            Ok(Some(io)) => io,
            Ok(None) => continue,
            Err(error) => {
                // A client that went before it was accepted is no reason to rest; no descriptors left is. Whoever
                // has the longest shown no token gives theirs back meanwhile.
                if error.kind() != io::ErrorKind::ConnectionAborted {
                    slots.make_room();
                    tokio::time::sleep(REST).await;
                }
                continue;
            }
        };
        let Some(slot) = slot(&slots, &state).await else {
            state.metrics.turned_away.inc();
            if let Ok(moment) = turned_away.clone().try_acquire_owned() {
                tokio::spawn(async move {
                    let _ = tokio::time::timeout(TURNED_AWAY_FOR, turn_away(io)).await;
                    drop(moment);
                });
            }
            continue;
        };
        let connection = match via {
            Via::Tcp | Via::Tls => slots.unauthenticated_connection(Some(slot)),
            // The peer's user is known.
            Via::Socket => Connection::at_home(Some(slot)),
        };
        let (front, state) = (front.clone(), state.clone());
        let opened = listener.opened(io);
        tokio::spawn(async move {
            let counted = state.metrics.connected(via);
            let opened = tokio::select! {
                opened = opened => opened,
                () = connection.sent_away() => None,
                () = state.drain.cancelled() => None,
            };
            if let Some(io) = opened {
                converse(io, front, connection, state).await;
            }
            drop(counted);
        });
    }
    drop(listener);
    let _ = slots.slots.all().await;
}

/// A slot for one more; of an unauthenticated connection where none is free, which is waited for to end: the files of those that
/// go and those that come would otherwise be open at once.
async fn slot(slots: &ConnectionSlots, state: &AppState) -> Option<OwnedSemaphorePermit> {
    if let Some(free) = slots.slots.take() {
        return Some(free);
    }
    if !slots.make_room() {
        return None;
    }
    state.metrics.displaced.inc();
    slots.slots.next().await
}

async fn turn_away(mut io: impl AsyncRead + AsyncWrite + Unpin) {
    let reply = busy("the daemon has as many connections as it can; try again");
    let answer = watched::as_bytes("Service Unavailable", &reply);
    if io.write_all(&answer).await.is_err() || io.shutdown().await.is_err() {
        return;
    }
    let mut space = [0; 1024];
    while io.read(&mut space).await.is_ok_and(|read| read > 0) {}
}
