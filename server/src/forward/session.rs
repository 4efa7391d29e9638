//! One forwarded call on one connection, from the daemon's side.

use super::frame::{self, CHUNK, Frame};
use super::{Child, Ended, Forward, ForwardIo};
use crate::served::Served;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// A caller at the other end of a stream.
struct Caller<S> {
    link: Mutex<Link<S>>,
}

struct Link<S> {
    stream: S,
    /// Whether the caller is gone, or says what it must not.
    broken: bool,
}

/// Carries out the call that comes on a stream, and answers it. Blocks until that is done.
///
/// # Errors
/// The caller went away, or what it says is no call.
pub fn session<S: Read + Write + Send + 'static>(
    served: &Arc<Served>,
    mut stream: S,
    forward: &dyn Forward,
) -> io::Result<()> {
    let Frame::Call(call) = frame::receive(&mut stream)? else {
        return Err(unexpected());
    };
    let caller = Arc::new(Caller {
        link: Mutex::new(Link {
            stream,
            broken: false,
        }),
    });
    let last = match forward.run(served, call, caller.clone()) {
        Some(code) => Frame::Exit(code),
        None => Frame::Elsewhere,
    };
    caller.with(|link| link.send(&last))
}

impl<S: Read + Write> Caller<S> {
    fn with<A>(&self, act: impl FnOnce(&mut Link<S>) -> io::Result<A>) -> io::Result<A> {
        // Whoever panicked with the link in its hands left it between two frames or broken, and it says which.
        act(&mut self.link.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<S: Read + Write> Link<S> {
    fn send(&mut self, frame: &Frame) -> io::Result<()> {
        if self.broken {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.broken = true;
        frame::send(&mut self.stream, frame)?;
        self.broken = false;
        Ok(())
    }

    /// Says something that is answered.
    fn ask(&mut self, frame: &Frame) -> io::Result<Frame> {
        self.send(frame)?;
        self.broken = true;
        match frame::receive(&mut self.stream) {
            Ok(Frame::Failed(number, text)) => {
                self.broken = false;
                Err(frame::failure(number, text))
            }
            Ok(frame) => {
                self.broken = false;
                Ok(frame)
            }
            // Nobody reads any more, however it came about.
            Err(_) => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn unexpected<A>(&mut self) -> io::Result<A> {
        self.broken = true;
        Err(unexpected())
    }
}

fn unexpected() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a frame is not what was due")
}

impl<S: Read + Write + Send> ForwardIo for Caller<S> {
    fn open(&self, path: &Path) -> io::Result<u32> {
        self.with(|link| match link.ask(&Frame::Open(path.to_owned()))? {
            Frame::Opened(handle) => Ok(handle),
            _ => link.unexpected(),
        })
    }

    fn read(&self, handle: u32) -> io::Result<Vec<u8>> {
        self.with(|link| match link.ask(&Frame::Want(handle)) {
            Ok(Frame::Input(bytes)) => Ok(bytes),
            Ok(_) => link.unexpected(),
            // An input that stopped is not one that ended.
            Err(_) if link.broken => Err(io::ErrorKind::ConnectionAborted.into()),
            Err(error) => Err(error),
        })
    }

    fn write_out(&self, bytes: &[u8]) -> io::Result<()> {
        bytes.chunks(CHUNK).try_for_each(|chunk| {
            self.with(|link| match link.ask(&Frame::Out(chunk.to_vec()))? {
                Frame::Written => Ok(()),
                _ => link.unexpected(),
            })
        })
    }

    fn write_err(&self, bytes: &[u8]) -> io::Result<()> {
        let mut chunks = bytes.chunks(CHUNK);
        chunks.try_for_each(|chunk| self.with(|link| link.send(&Frame::Err(chunk.to_vec()))))
    }

    fn run_child(&self, child: &Child) -> io::Result<Ended> {
        self.with(|link| match link.ask(&Frame::Run(child.clone()))? {
            Frame::Ended(ended) => Ok(ended),
            _ => link.unexpected(),
        })
    }
}
