//! Connections that leave HTTP: on the Unix socket a client may ask for another protocol, which somebody else speaks.

use crate::served::Served;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// Which version a client is of, and which the daemon is.
pub const VERSION_HEADER: &str = "teamlog-version";

/// Speaks the other protocol.
pub trait TakeOver: Send + Sync {
    /// The protocol's name, as `Upgrade` gives it.
    fn protocol(&self) -> &'static str;
    /// Serves one client until it is done, on a thread of its own.
    fn serve(&self, served: &Arc<Served>, link: Link);
}

/// A connection that was taken over. It blocks.
#[derive(Debug)]
pub struct Link {
    stream: UnixStream,
    /// What the client said before it knew that it may.
    early: io::Cursor<Vec<u8>>,
}

impl Link {
    pub(crate) fn new(stream: UnixStream, early: Vec<u8>) -> Link {
        Link {
            stream,
            early: io::Cursor::new(early),
        }
    }
    /// The socket beneath, for its time limits.
    pub fn stream(&self) -> &UnixStream {
        &self.stream
    }
}

impl Read for Link {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self.early.read(buf)? {
            0 => self.stream.read(buf),
            read => Ok(read),
        }
    }
}

impl Write for Link {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.stream.write(buf)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}
