//! Accepts connections up to the limit, and refuses further connections quickly.

use crate::admission::busy;
use crate::connection::serve_connection;
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

/// Time for which a refused connection stays open, so that the client can read the reason.
const TURNED_AWAY_FOR: Duration = Duration::from_millis(500);
/// Pause of the accept loop after the system has no file descriptors left.
const REST: Duration = Duration::from_millis(50);
/// Length of the queue of connections that are not accepted yet. If it is full, the system drops new connections, and
/// clients retry only after a second.
const QUEUE: i32 = 4096;

/// Sets the queue length to the maximum of the system. The standard library uses 128.
pub(crate) fn widen(listener: &impl AsFd) -> io::Result<()> {
    Ok(rustix::net::listen(listener, QUEUE)?)
}

/// A listener of any transport.
pub(crate) trait Listen {
    /// A connection before its handshake.
    type Raw: AsyncRead + AsyncWrite + Unpin + Send + 'static;
    /// Accepts a connection. Returns `None` if the connection was dropped without an answer.
    fn next(&self) -> impl Future<Output = io::Result<Option<Self::Raw>>> + Send;
    /// Completes the handshake of a connection. Returns `None` if the handshake fails.
    fn opened(&self, raw: Self::Raw) -> impl Future<Output = Option<Io>> + Send + 'static;
}

impl Listen for TcpListener {
    type Raw = TcpStream;
    async fn next(&self) -> io::Result<Option<TcpStream>> {
        let (stream, _) = self.accept().await?;
        // Answers are written in one piece, so delaying small packets has no benefit.
        let _ = stream.set_nodelay(true);
        Ok(Some(stream))
    }
    fn opened(&self, raw: TcpStream) -> impl Future<Output = Option<Io>> + Send + 'static {
        ready(Some(Either::Right(Either::Left(raw))))
    }
}

/// Listener for TLS over TCP, for other machines.
pub(crate) struct TlsListener {
    pub tcp: TcpListener,
    pub certificate: Arc<Certificate>,
    /// Maximum time of a handshake.
    pub within: Duration,
}

impl Listen for TlsListener {
    type Raw = TcpStream;
    async fn next(&self) -> io::Result<Option<TcpStream>> {
        let accepted = self.tcp.next().await;
        if let Ok(Some(stream)) = &accepted {
            // TCP keep-alive: detects peers that vanished. Without it, their connections stay open until a timeout.
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

/// Enables TCP keep-alive. The system then ends a connection whose peer does not respond for half a minute, even while sent
/// bytes are not acknowledged.
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

/// Accepts connections until the daemon stops. Returns after the last connection has ended.
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
                // If a client disconnected before its connection was accepted, no pause is needed. If no file
                // descriptor is free, close the unauthenticated connection that was idle for the longest time, and
                // wait.
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
            // The system has authenticated the peer's user.
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
                serve_connection(io, front, connection, state).await;
            }
            drop(counted);
        });
    }
    drop(listener);
    let _ = slots.slots.all().await;
}

/// Returns a free slot. If no slot is free, closes an unauthenticated connection, waits for its end, and returns the
/// freed slot. Without this wait, the files of the old and the new connection would be open at one time.
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
    let reply = busy("the daemon has reached its limit of connections; try again");
    let answer = watched::as_bytes("Service Unavailable", &reply);
    if io.write_all(&answer).await.is_err() || io.shutdown().await.is_err() {
        return;
    }
    let mut space = [0; 1024];
    while io.read(&mut space).await.is_ok_and(|read| read > 0) {}
}
