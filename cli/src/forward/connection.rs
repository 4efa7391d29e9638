//! A connection to a daemon, local or remote.

use std::fmt::Debug;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// A connection with blocking reads and writes.
pub trait Connection: Read + Write + Send + Debug {
    /// Sets the time limit for reads and writes. `None` means no limit.
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
