//! A connection to a daemon, on this machine or to another one.

use std::fmt::Debug;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// What is spoken on. Reading and writing block.
pub trait Connection: Read + Write + Send + Debug {
    /// How long reading and writing may wait; for ever where that is not said.
    fn within(&self, deadline: Option<Duration>) -> io::Result<()>;
}

impl Connection for UnixStream {
    fn within(&self, deadline: Option<Duration>) -> io::Result<()> {
        self.set_read_timeout(deadline)?;
        self.set_write_timeout(deadline)
    }
}

impl Connection for TcpStream {
    fn within(&self, deadline: Option<Duration>) -> io::Result<()> {
        self.set_read_timeout(deadline)?;
        self.set_write_timeout(deadline)
    }
}
