//! A connection's bytes on their way, watched: what is read and written is told to its [`ConnectionTimeouts`].
//!
//! Two things are mended on the way. What cannot be parsed is answered by the parser itself, without a body; it gets
//! the body that every error has. And a connection is not closed before the client has had the time to read why:
//! closing a socket that holds unread bytes would take back what was answered.

use crate::reply::Reply;
use crate::wire::timeouts::ConnectionTimeouts;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::server::TlsStream;
use tokio_util::either::Either;

/// Set on every answer of ours.
pub(crate) const MARK: &str = "x-content-type-options";

/// A connection, whichever way it came: on the Unix socket, over TCP, or over TLS.
pub(crate) type Io = Either<UnixStream, Either<TcpStream, Box<TlsStream<TcpStream>>>>;

#[derive(Debug)]
pub(crate) struct Watched {
    inner: Io,
    timeouts: Arc<ConnectionTimeouts>,
    /// What is written in place of something else, and how much of it was.
    instead: Option<(Vec<u8>, usize)>,
    /// Whether our end was closed.
    shut: bool,
}

impl Watched {
    pub fn new(inner: Io, timeouts: Arc<ConnectionTimeouts>) -> Watched {
        Watched {
            inner,
            timeouts,
            instead: None,
            shut: false,
        }
    }
    /// What is watched.
    pub fn into_inner(self) -> Io {
        self.inner
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buf))?;
        if let Some(new @ [_, ..]) = buf.filled().get(before..) {
            self.timeouts.heard(new);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        if this.instead.is_none() && !this.timeouts.owes() {
            this.instead = in_place_of(buf, &this.timeouts).map(|bytes| (bytes, 0));
        }
        let Some((bytes, done)) = &mut this.instead else {
            let written = Pin::new(&mut this.inner).poll_write(cx, buf);
            this.timeouts.wrote(written.is_ready());
            return written;
        };
        while let Some(rest @ [_, ..]) = bytes.get(*done..) {
            let written = Pin::new(&mut this.inner).poll_write(cx, rest);
            this.timeouts.wrote(written.is_ready());
            match ready!(written)? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                some => *done += some,
            }
        }
        this.instead = None;
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.inner).poll_flush(cx);
        if flushed.is_ready() {
            self.timeouts.flushed();
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.shut {
            ready!(Pin::new(&mut self.inner).poll_shutdown(cx))?;
            self.shut = true;
        }
        self.timeouts.lingers();
        let mut space = [0; 8192];
        loop {
            let mut buf = ReadBuf::new(&mut space);
            ready!(Pin::new(&mut self.inner).poll_read(cx, &mut buf))?;
            if buf.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

/// What the parser says of what it cannot parse, said as we say it. Nothing but what the parser says comes here.
fn in_place_of(written: &[u8], timeouts: &ConnectionTimeouts) -> Option<Vec<u8>> {
    let head = written.strip_prefix(b"HTTP/1.1 ")?;
    let status = std::str::from_utf8(head.get(..3)?).ok()?.parse().ok()?;
    let (reason, reply) = match status {
        // It does not take a length that is greater than its numbers get.
        400 | 431 if timeouts.is_too_much() => {
            ("Content Too Large", too_large(timeouts.body_bytes()))
        }
        400 => (
            "Bad Request",
            malformed("request must be well-formed HTTP/1.1"),
        ),
        414 => (
            "URI Too Long",
            Reply::error(414, "target_too_long", "target must be shorter"),
        ),
        431 => (
            "Request Header Fields Too Large",
            Reply::error(
                431,
                "head_too_large",
                "head must have fewer and shorter headers",
            ),
        ),
        _ => return None,
    };
    Some(as_bytes(reason, &reply))
}

/// What is answered to what is no request.
pub(crate) fn malformed(message: &str) -> Reply {
    Reply::error(400, "malformed_request", message)
}

/// What is answered to a body that is larger than any may be.
pub(crate) fn too_large(limit: usize) -> Reply {
    let message = format!("body must have at most {limit} bytes");
    Reply::error(413, "too_large", &message)
}

/// A whole answer, after which the connection is closed, for where nothing else makes one.
pub(crate) fn as_bytes(reason: &str, reply: &Reply) -> Vec<u8> {
    let mut bytes = format!(
        "HTTP/1.1 {} {reason}\r\ncontent-type: {}\r\ncontent-length: {}\r\n{MARK}: nosniff\r\n\
         cache-control: no-store\r\nconnection: close\r\n",
        reply.status,
        reply.content_type,
        reply.body.len()
    )
    .into_bytes();
    for (name, value) in &reply.headers {
        bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(&reply.body);
    bytes
}
