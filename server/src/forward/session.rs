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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forward::{ForwardedCall, Terminals};
    use std::os::unix::net::UnixStream;
    use teamlog_team::{Root, RootOptions};

    fn call() -> Frame {
        Frame::Call(ForwardedCall {
            root: "/".into(),
            team: "demo".into(),
            program: "teamlog".into(),
            argv: vec!["teamlog".into(), "tick".into()],
            vars: Vec::new(),
            here: "/".into(),
            terminals: Terminals::default(),
        })
    }

    /// Does what it is told with the streams of its caller.
    struct Act<F>(F);

    impl<F: Fn(&dyn ForwardIo) -> Option<u8> + Send + Sync> Forward for Act<F> {
        fn run(&self, _: &Arc<Served>, _: ForwardedCall, io: Arc<dyn ForwardIo>) -> Option<u8> {
            (self.0)(&*io)
        }
    }

    /// Lets `act` run for a caller that says `frames` and then waits for the end, or leaves.
    fn run(
        frames: Vec<Frame>,
        stays: bool,
        act: impl Fn(&dyn ForwardIo) -> Option<u8> + Send + Sync,
    ) -> (io::Result<()>, Vec<Frame>) {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::open(dir.path(), RootOptions::default()).unwrap();
        let served = Arc::new(Served::new(root));
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        std::thread::scope(|scope| {
            let caller = scope.spawn(move || {
                for frame in &frames {
                    frame::send(&mut theirs, frame).unwrap();
                }
                let mut heard = Vec::new();
                while stays && let Ok(frame) = frame::receive(&mut theirs) {
                    heard.push(frame);
                }
                heard
            });
            if !stays {
                // Gone before the daemon looks.
                let heard = caller.join().unwrap();
                return (session(&served, ours, &Act(act)), heard);
            }
            let ended = session(&served, ours, &Act(act));
            (ended, caller.join().unwrap())
        })
    }

    #[test]
    fn streams_are_read_and_written_as_they_are_wanted() {
        let frames = vec![
            call(),
            Frame::Written,
            Frame::Input(b"in".to_vec()),
            Frame::Input(Vec::new()),
            Frame::Failed(28, String::new()),
            Frame::Opened(7),
        ];
        let (ended, heard) = run(frames, true, |io| {
            io.write_out(b"out").unwrap();
            assert_eq!(io.read(0).unwrap(), b"in");
            assert_eq!(io.read(0).unwrap(), b"");
            let full = io.write_out(b"more").unwrap_err();
            assert_eq!(full.kind(), io::ErrorKind::StorageFull);
            assert_eq!(io.open(Path::new("/dev/fd/3")).unwrap(), 7);
            io.write_err(b"err").unwrap();
            Some(9)
        });
        assert!(ended.is_ok());
        let said = [
            Frame::Out(b"out".to_vec()),
            Frame::Want(0),
            Frame::Want(0),
            Frame::Out(b"more".to_vec()),
            Frame::Open("/dev/fd/3".into()),
            Frame::Err(b"err".to_vec()),
            Frame::Exit(9),
        ];
        assert_eq!(heard, said);
    }

    #[test]
    fn a_caller_that_is_gone_is_a_reader_that_left_and_no_input_that_ended() {
        let (ended, _) = run(vec![call()], false, |io| {
            let left = io.write_out(b"out").unwrap_err();
            assert_eq!(left.kind(), io::ErrorKind::BrokenPipe);
            let stopped = io.read(0).unwrap_err();
            assert_eq!(stopped.kind(), io::ErrorKind::ConnectionAborted);
            assert!(io.write_err(b"err").is_err());
            Some(0)
        });
        assert!(ended.is_err());
    }

    #[test]
    fn what_is_not_due_ends_the_link_and_not_the_daemon() {
        let (ended, heard) = run(vec![Frame::Written], true, |_| panic!("it was no call"));
        assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert!(heard.is_empty());
        let (ended, heard) = run(vec![call(), Frame::Exit(0), Frame::Written], true, |io| {
            assert!(io.write_out(b"out").is_err());
            assert!(io.write_out(b"again").is_err());
            None
        });
        assert!(ended.is_err());
        assert_eq!(heard, [Frame::Out(b"out".to_vec())]);
        let (ended, heard) = run(vec![call()], true, |_| None);
        assert!(ended.is_ok());
        assert_eq!(heard, [Frame::Elsewhere]);
    }
}
