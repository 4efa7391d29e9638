//! One forwarded call on one connection, from the daemon's side.

use super::frame::{self, CHUNK, Frame};
use super::{Child, Cut, Ended, Forward, ForwardIo, ForwardedCall};
use crate::served::Served;
use crate::upgrade::UpgradedConnection;
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// For so long a caller may be about to answer; after that it waits for something itself.
const SOON: Duration = Duration::from_millis(250);
/// How long a caller that is not waited for may take nothing of what it is told.
const PARTING: Duration = Duration::from_secs(1);

/// A caller at the other end of a connection.
struct Caller {
    served: Arc<Served>,
    talk: Mutex<Talk>,
}

struct Talk {
    link: UpgradedConnection,
    /// Whether the caller is gone, or says what it must not.
    broken: bool,
    /// Why an answer that is due is not waited for. Nothing is read from there on: what the caller still says is that.
    cut: Option<Cut>,
}

/// What becomes of a question where as many callers wait as may.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Crowded {
    /// It stays unanswered: who gives no input may never do.
    Leave,
    /// Its answer is waited for at the place of one that works: it will come.
    Stay,
}

/// The call that comes on a stream.
///
/// # Errors
/// The caller went away, or what it says is no call.
pub fn called(stream: &mut impl Read) -> io::Result<ForwardedCall> {
    match frame::receive(stream)? {
        Frame::Call(call) => Ok(call),
        _ => Err(unexpected()),
    }
}

/// Carries out a call, and answers it on its connection. Blocks until that is done.
///
/// # Errors
/// The caller went away.
pub fn session(
    served: &Arc<Served>,
    link: UpgradedConnection,
    call: ForwardedCall,
    forward: &dyn Forward,
) -> io::Result<()> {
    let caller = Arc::new(Caller {
        served: served.clone(),
        talk: Mutex::new(Talk {
            link,
            broken: false,
            cut: None,
        }),
    });
    let last = match forward.run(served, call, caller.clone()) {
        Some(code) => Frame::Exit(code),
        None => Frame::Elsewhere,
    };
    caller.with(|talk| talk.send(&last))
}

impl Caller {
    fn with<A>(&self, act: impl FnOnce(&mut Talk) -> io::Result<A>) -> io::Result<A> {
        // Whoever panicked with the link in its hands left it between two frames or broken, and it says which.
        act(&mut self.talk.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Says something that is answered, and takes of the answer what is due.
    fn ask<A>(
        &self,
        frame: &Frame,
        crowded: Crowded,
        due: impl FnOnce(Frame) -> Option<A>,
    ) -> io::Result<A> {
        self.with(|talk| {
            let answer = talk.ask(frame, crowded, &self.served)?;
            due(answer).ok_or_else(|| {
                talk.broken = true;
                unexpected()
            })
        })
    }
}

impl Talk {
    fn send(&mut self, frame: &Frame) -> io::Result<()> {
        if self.broken {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.broken = true;
        frame::send(&mut self.link, frame)?;
        self.broken = false;
        Ok(())
    }

    fn ask(&mut self, frame: &Frame, crowded: Crowded, served: &Served) -> io::Result<Frame> {
        if let Some(cut) = self.cut {
            return Err(io::Error::other(cut));
        }
        self.send(frame)?;
        self.await_answer(crowded, served)?;
        self.broken = true;
        match frame::receive(&mut self.link) {
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

    /// Waits until the answer begins. Meanwhile the place is free for others.
    fn await_answer(&mut self, crowded: Crowded, served: &Served) -> io::Result<()> {
        // What is wrong with the connection is met by whoever reads from it.
        while !self.link.hears(SOON).unwrap_or(true) {
            if served.is_stopping() {
                return self.leave(Cut::Stopping);
            }
            if !self.link.waits() && crowded == Crowded::Leave {
                return self.leave(Cut::Full);
            }
        }
        self.link.works();
        Ok(())
    }

    fn leave(&mut self, why: Cut) -> io::Result<()> {
        self.cut = Some(why);
        self.link.works();
        self.link.stream().set_write_timeout(Some(PARTING))?;
        Err(io::Error::other(why))
    }
}

fn unexpected() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a frame is not what was due")
}

impl ForwardIo for Caller {
    fn open(&self, path: &Path) -> io::Result<u32> {
        let frame = Frame::Open(path.to_owned());
        self.ask(&frame, Crowded::Leave, |answer| match answer {
            Frame::Opened(handle) => Some(handle),
            _ => None,
        })
    }

    fn read(&self, handle: u32) -> io::Result<Vec<u8>> {
        let read = self.ask(
            &Frame::Want(handle),
            Crowded::Leave,
            |answer| match answer {
                Frame::Input(bytes) => Some(bytes),
                _ => None,
            },
        );
        // An input that stopped is not one that ended.
        read.map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => io::ErrorKind::ConnectionAborted.into(),
            _ => error,
        })
    }

    fn write_out(&self, bytes: &[u8]) -> io::Result<()> {
        bytes.chunks(CHUNK).try_for_each(|chunk| {
            let frame = Frame::Out(chunk.to_vec());
            if self.cut().is_some() {
                return self.with(|talk| talk.send(&frame));
            }
            let written = self.ask(&frame, Crowded::Stay, |answer| match answer {
                Frame::Written => Some(()),
                _ => None,
            });
            match (written, self.cut()) {
                // It was said, and the caller writes it when it can.
                (Err(_), Some(_)) => Ok(()),
                (written, _) => written,
            }
        })
    }

    fn write_err(&self, bytes: &[u8]) -> io::Result<()> {
        let mut chunks = bytes.chunks(CHUNK);
        chunks.try_for_each(|chunk| self.with(|talk| talk.send(&Frame::Err(chunk.to_vec()))))
    }

    fn run_child(&self, child: &Child) -> io::Result<Ended> {
        let frame = Frame::Run(child.clone());
        self.ask(&frame, Crowded::Stay, |answer| match answer {
            Frame::Ended(ended) => Some(ended),
            _ => None,
        })
    }

    fn begin_wait(&self) -> bool {
        self.with(|talk| Ok(talk.link.waits())).unwrap_or(false)
    }

    fn is_awaited(&self) -> bool {
        // Nothing is due from the caller: it hung up, or says what it must not.
        let left = self.with(|talk| talk.link.hears(Duration::ZERO));
        !self.served.is_stopping() && !left.unwrap_or(true)
    }

    fn end_wait(&self) {
        let _ = self.with(|talk| {
            talk.link.works();
            Ok(())
        });
    }

    fn cut(&self) -> Option<Cut> {
        self.with(|talk| Ok(talk.cut)).unwrap_or(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forward::Terminals;
    use crate::local_slots::LocalSlots;
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
        let answered = |mut ours: UnixStream| {
            let call = called(&mut ours)?;
            let place = LocalSlots::new(1, 1).take().unwrap();
            session(
                &served,
                UpgradedConnection::new(ours, Vec::new(), place),
                call,
                &Act(act),
            )
        };
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
                return (answered(ours), heard);
            }
            let ended = answered(ours);
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

    /// Lets `act` run for a caller that answers nothing, with what it hears once that is done; one more may wait, or not.
    fn unanswered(
        may_wait: bool,
        act: impl Fn(&Served, &Arc<LocalSlots>, &dyn ForwardIo) + Send + Sync,
    ) -> Vec<Frame> {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::open(dir.path(), RootOptions::default()).unwrap();
        let served = Arc::new(Served::new(root));
        let local_slots = LocalSlots::new(1, usize::from(may_wait));
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let link = UpgradedConnection::new(ours, Vec::new(), local_slots.take().unwrap());
        frame::send(&mut theirs, &call()).unwrap();
        let mut link = link;
        let call = called(&mut link).unwrap();
        let act = Act(|io: &dyn ForwardIo| {
            act(&served, &local_slots, io);
            Some(3)
        });
        session(&served, link, call, &act).unwrap();
        let mut heard = Vec::new();
        while let Ok(frame) = frame::receive(&mut theirs) {
            heard.push(frame);
        }
        heard
    }

    #[test]
    fn a_stop_waits_for_no_answer_and_says_the_rest_without_any() {
        let heard = unanswered(true, |served, _, io| {
            served.stop();
            let stopped = io.read(0).unwrap_err();
            assert_eq!(stopped.to_string(), Cut::Stopping.to_string());
            assert_eq!(io.cut(), Some(Cut::Stopping));
            assert!(io.open(Path::new("/dev/fd/3")).is_err());
            io.write_out(b"out").unwrap();
            io.write_err(b"err").unwrap();
        });
        let said = [
            Frame::Want(0),
            Frame::Out(b"out".to_vec()),
            Frame::Err(b"err".to_vec()),
            Frame::Exit(3),
        ];
        assert_eq!(heard, said);
    }

    #[test]
    fn who_is_slow_to_answer_leaves_its_place_and_who_may_not_wait_gives_no_input() {
        let heard = unanswered(true, |served, local_slots, io| {
            std::thread::scope(|scope| {
                let request = scope.spawn(|| io.write_out(b"out"));
                let other = loop {
                    match local_slots.take() {
                        Some(other) => break other,
                        None => std::thread::yield_now(),
                    }
                };
                drop(other);
                served.stop();
                request.join().unwrap().unwrap();
            });
        });
        assert_eq!(heard, [Frame::Out(b"out".to_vec()), Frame::Exit(3)]);
        let heard = unanswered(false, |_, _, io| {
            let crowded = io.read(0).unwrap_err();
            assert_eq!(crowded.to_string(), Cut::Full.to_string());
            assert_eq!(io.cut(), Some(Cut::Full));
            assert!(!io.begin_wait());
        });
        assert_eq!(heard, [Frame::Want(0), Frame::Exit(3)]);
    }

    #[test]
    fn a_wait_is_worth_it_until_the_caller_hangs_up_or_the_daemon_stops() {
        unanswered(true, |served, local_slots, io| {
            assert!(local_slots.take().is_none());
            assert!(io.begin_wait());
            assert!(local_slots.take().is_some());
            assert!(io.is_awaited());
            io.end_wait();
            assert!(local_slots.take().is_none());
            served.stop();
            assert!(!io.is_awaited());
        });
        let (ended, _) = run(vec![call()], false, |io| {
            assert!(!io.is_awaited());
            Some(0)
        });
        assert!(ended.is_err());
    }

    #[test]
    fn what_is_not_due_ends_the_link_and_not_the_daemon() {
        let (ended, heard) = run(vec![Frame::Written], true, |_| panic!("it was no call"));
        assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert!(heard.is_empty());
        let (ended, heard) = run(vec![call(), Frame::Exit(0)], true, |io| {
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
