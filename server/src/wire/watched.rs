//! Wraps the byte stream of a connection, and reports reads and writes to its [`ConnectionTimeouts`].
//!
//! The wrapper also changes two things. The HTTP parser answers invalid input without a body, and the wrapper adds the
//! body that every error must have. And the connection is closed only after the client had time to read the answer,
//! because closing a socket with unread input would discard the answer.

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

/// Header that every answer of a handler has. An answer of the parser does not have it.
pub(crate) const MARK: &str = "x-content-type-options";

/// A connection over any transport: Unix socket, TCP or TLS.
pub(crate) type Io = Either<UnixStream, Either<TcpStream, Box<TlsStream<TcpStream>>>>;

#[derive(Debug)]
pub(crate) struct Watched {
    inner: Io,
    timeouts: Arc<ConnectionTimeouts>,
    /// Bytes to write instead of the parser's answer, and the number of these bytes that are already written.
    replacement: Option<(Vec<u8>, usize)>,
    /// True if the daemon has closed its side.
    shut: bool,
}

impl Watched {
    pub fn new(inner: Io, timeouts: Arc<ConnectionTimeouts>) -> Watched {
        Watched {
            inner,
            timeouts,
            replacement: None,
            shut: false,
        }
    }
    /// Returns the wrapped connection.
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
        if this.replacement.is_none() && !this.timeouts.response_pending() {
            this.replacement = replacement_of(buf, &this.timeouts).map(|bytes| (bytes, 0));
        }
        let Some((bytes, done)) = &mut this.replacement else {
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
        this.replacement = None;
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

/// Returns the error reply that replaces the parser's answer to invalid input.
fn replacement_of(written: &[u8], timeouts: &ConnectionTimeouts) -> Option<Vec<u8>> {
    let head = written.strip_prefix(b"HTTP/1.1 ")?;
    let status = std::str::from_utf8(head.get(..3)?).ok()?.parse().ok()?;
    let (reason, reply) = match status {
        // The parser refuses a length that does not fit into its integers.
        400 | 431 if timeouts.body_too_large() => {
            ("Content Too Large", too_large(timeouts.body_bytes()))
        }
        400 => (
            "Bad Request",
            malformed("the request is not well-formed HTTP/1.1"),
        ),
        414 => (
            "URI Too Long",
            Reply::error(414, "target_too_long", "the request target is too long"),
        ),
        431 => (
            "Request Header Fields Too Large",
            Reply::error(
                431,
                "head_too_large",
                "the request's headers are too many or too long",
            ),
        ),
        _ => return None,
    };
    Some(as_bytes(reason, &reply))
}

/// Makes the reply to input that is not a valid request.
pub(crate) fn malformed(message: &str) -> Reply {
    Reply::error(400, "malformed_request", message)
}

/// Makes the reply to a body beyond the limit.
pub(crate) fn too_large(limit: usize) -> Reply {
    let message = format!("the body must have at most {limit} bytes");
    Reply::error(413, "too_large", &message)
}

/// Formats a complete answer as bytes, with a header that closes the connection. Code that cannot use the HTTP
/// library calls this function.
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
