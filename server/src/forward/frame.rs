//! The frames of a forwarded call: a length (`u32`, little-endian, of what follows it), a kind (one byte), and the bytes
//! of that kind. `docs/forwarding.md` has them in a table.
//!
//! Invariants: nothing that comes in is trusted. A length past [`FRAME_BYTES_MAX`] is refused before anything is read, and
//! no memory is taken for bytes that have not come.

use super::{Child, Ended, ForwardedCall, Terminals};
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

/// Most bytes of a frame: all the words and variables that a system lets a process have.
pub const FRAME_BYTES_MAX: u32 = 8 << 20;
/// Most bytes of a stream in one frame.
pub const CHUNK: usize = 64 << 10;

/// What is said, by either side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// The caller: what is to be done. The first frame, and the only one of its kind.
    Call(ForwardedCall),
    /// The caller, asked to open a file: by which number it is read.
    Opened(u32),
    /// The caller, asked to read: some of it, nothing at its end.
    Input(Vec<u8>),
    /// The caller, asked to write: it is written.
    Written,
    /// The caller, asked to open, read or write: the system's error, and its text where there is no number for it.
    Failed(i32, String),
    /// The caller, asked to run a program: how that ended.
    Ended(Ended),
    /// The daemon: to be written to standard output, and answered.
    Out(Vec<u8>),
    /// The daemon: to be written to standard error.
    Err(Vec<u8>),
    /// The daemon: a file to be opened that only the caller's process has, and answered.
    Open(PathBuf),
    /// The daemon: of that file, or of [`STDIN`], more is wanted.
    Want(u32),
    /// The daemon: a program to be run, and answered.
    Run(Child),
    /// The daemon: the end, and its code.
    Exit(u8),
    /// The daemon: nothing was done, for the team is not served here.
    Elsewhere,
}

const CALL: u8 = 1;
const INPUT: u8 = 2;
const WRITTEN: u8 = 3;
const FAILED: u8 = 4;
const ENDED: u8 = 5;
const OPENED: u8 = 6;
const OUT: u8 = 16;
const ERR: u8 = 17;
const WANT: u8 = 18;
const RUN: u8 = 19;
const EXIT: u8 = 20;
const ELSEWHERE: u8 = 21;
const OPEN: u8 = 22;

/// The number of standard input.
pub const STDIN: u32 = 0;

/// Sends a frame.
///
/// # Errors
/// The stream's; `InvalidInput` for one that is too large.
pub fn send(to: &mut (impl Write + ?Sized), frame: &Frame) -> io::Result<()> {
    let (kind, body) = encoded(frame);
    let length = u32::try_from(body.len() + 1)
        .ok()
        .filter(|length| *length <= FRAME_BYTES_MAX)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "frame is too large"))?;
    let mut bytes = Vec::with_capacity(body.len() + 5);
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.push(kind);
    bytes.extend_from_slice(&body);
    to.write_all(&bytes)?;
    to.flush()
}

/// Receives a frame.
///
/// # Errors
/// The stream's; `UnexpectedEof` at its end; `InvalidData` for what is no frame.
pub fn receive(from: &mut (impl Read + ?Sized)) -> io::Result<Frame> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length == 0 || length > FRAME_BYTES_MAX {
        return Err(invalid("a frame's length is out of bounds"));
    }
    let mut bytes = Vec::new();
    Read::take(from, length.into()).read_to_end(&mut bytes)?;
    if u32::try_from(bytes.len()) != Ok(length) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let (kind, body) = bytes.split_first().ok_or_else(|| invalid("empty"))?;
    decoded(*kind, body).ok_or_else(|| invalid("a frame is none that is known"))
}

fn invalid(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

fn encoded(frame: &Frame) -> (u8, Vec<u8>) {
    let mut to = Encoder(Vec::new());
    let kind = match frame {
        Frame::Call(call) => {
            to.call(call);
            CALL
        }
        Frame::Input(bytes) => return (INPUT, bytes.clone()),
        Frame::Opened(handle) => {
            to.handle(*handle);
            OPENED
        }
        Frame::Written => WRITTEN,
        Frame::Failed(number, text) => {
            to.number(*number);
            to.bytes(text.as_bytes());
            FAILED
        }
        Frame::Ended(ended) => {
            to.ended(ended);
            ENDED
        }
        Frame::Out(bytes) => return (OUT, bytes.clone()),
        Frame::Err(bytes) => return (ERR, bytes.clone()),
        Frame::Open(path) => {
            to.bytes(path.as_os_str().as_bytes());
            OPEN
        }
        Frame::Want(handle) => {
            to.handle(*handle);
            WANT
        }
        Frame::Run(child) => {
            to.child(child);
            RUN
        }
        Frame::Exit(code) => return (EXIT, vec![*code]),
        Frame::Elsewhere => ELSEWHERE,
    };
    (kind, to.0)
}

fn decoded(kind: u8, body: &[u8]) -> Option<Frame> {
    let mut from = Decoder(body);
    let frame = match kind {
        CALL => Frame::Call(from.call()?),
        INPUT => return Some(Frame::Input(body.to_vec())),
        WRITTEN => Frame::Written,
        FAILED => Frame::Failed(from.number()?, from.text()?),
        ENDED => Frame::Ended(from.ended()?),
        OUT => return Some(Frame::Out(body.to_vec())),
        ERR => return Some(Frame::Err(body.to_vec())),
        OPENED => Frame::Opened(from.handle()?),
        OPEN => Frame::Open(from.path()?),
        WANT => Frame::Want(from.handle()?),
        RUN => Frame::Run(from.child()?),
        EXIT => Frame::Exit(from.byte()?),
        ELSEWHERE => Frame::Elsewhere,
        _ => return None,
    };
    from.0.is_empty().then_some(frame)
}

/// Numbers and texts, each text behind its length.
struct Encoder(Vec<u8>);

impl Encoder {
    fn number(&mut self, number: i32) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn handle(&mut self, handle: u32) {
        self.0.extend_from_slice(&handle.to_le_bytes());
    }

    fn length(&mut self, length: usize) {
        // What is longer than this does not fit a frame, and is refused as one.
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        self.0.extend_from_slice(&length.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.length(bytes.len());
        self.0.extend_from_slice(bytes);
    }

    fn words(&mut self, words: &[OsString]) {
        self.length(words.len());
        words.iter().for_each(|word| self.bytes(word.as_bytes()));
    }

    fn pairs(&mut self, pairs: &[(OsString, OsString)]) {
        self.length(pairs.len());
        for (name, value) in pairs {
            self.bytes(name.as_bytes());
            self.bytes(value.as_bytes());
        }
    }

    fn call(&mut self, call: &ForwardedCall) {
        let Terminals {
            stdin,
            stdout,
            stderr,
        } = call.terminals;
        self.0
            .push(u8::from(stdin) | u8::from(stdout) << 1 | u8::from(stderr) << 2);
        self.bytes(call.root.as_os_str().as_bytes());
        self.bytes(call.team.as_bytes());
        self.bytes(call.here.as_os_str().as_bytes());
        self.bytes(call.program.as_bytes());
        self.words(&call.argv);
        self.pairs(&call.vars);
    }

    fn child(&mut self, child: &Child) {
        let millis = u64::try_from(child.deadline.as_millis()).unwrap_or(u64::MAX);
        self.0.extend_from_slice(&millis.to_le_bytes());
        self.bytes(child.program.as_bytes());
        self.words(&child.args);
        self.pairs(&child.vars);
    }

    fn ended(&mut self, ended: &Ended) {
        match ended {
            Ended::Exited(Some(code)) => {
                self.0.push(0);
                self.number(*code);
            }
            Ended::Exited(None) => self.0.push(1),
            Ended::TimedOut => self.0.push(2),
            Ended::Failed(why) => {
                self.0.push(3);
                self.bytes(why.as_bytes());
            }
        }
    }
}

struct Decoder<'a>(&'a [u8]);

impl<'a> Decoder<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn number(&mut self) -> Option<i32> {
        Some(i32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn handle(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn length(&mut self) -> Option<usize> {
        usize::try_from(self.handle()?).ok()
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.length()?;
        self.take(length)
    }

    fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.to_vec()).ok()
    }

    fn word(&mut self) -> Option<OsString> {
        let bytes = self.bytes()?;
        // No system call takes a text with a zero byte in it.
        (!bytes.contains(&0)).then(|| OsStr::from_bytes(bytes).to_owned())
    }

    fn path(&mut self) -> Option<PathBuf> {
        self.word().map(PathBuf::from)
    }

    fn words(&mut self) -> Option<Vec<OsString>> {
        // No capacity by a count that may lie: every word has bytes of its own, or the frame ends.
        (0..self.length()?).map(|_| self.word()).collect()
    }

    fn pairs(&mut self) -> Option<Vec<(OsString, OsString)>> {
        (0..self.length()?)
            .map(|_| Some((self.word()?, self.word()?)))
            .collect()
    }

    fn call(&mut self) -> Option<ForwardedCall> {
        let flags = self.byte()?;
        Some(ForwardedCall {
            terminals: Terminals {
                stdin: flags & 1 != 0,
                stdout: flags & 2 != 0,
                stderr: flags & 4 != 0,
            },
            root: self.path()?,
            team: self.text()?,
            here: self.path()?,
            program: self.word()?,
            argv: self.words()?,
            vars: self.pairs()?,
        })
    }

    fn child(&mut self) -> Option<Child> {
        let millis = u64::from_le_bytes(self.take(8)?.try_into().ok()?);
        Some(Child {
            deadline: Duration::from_millis(millis),
            program: self.word()?,
            args: self.words()?,
            vars: self.pairs()?,
        })
    }

    fn ended(&mut self) -> Option<Ended> {
        Some(match self.byte()? {
            0 => Ended::Exited(Some(self.number()?)),
            1 => Ended::Exited(None),
            2 => Ended::TimedOut,
            3 => Ended::Failed(self.text()?),
            _ => return None,
        })
    }
}

/// An error of the system as it is passed on.
pub fn failed(error: &io::Error) -> Frame {
    Frame::Failed(error.raw_os_error().unwrap_or(0), error.to_string())
}

/// The error that was passed on: the same number, and so the same kind and the same text.
pub fn failure(number: i32, text: String) -> io::Error {
    match number {
        0 => io::Error::other(text),
        number => io::Error::from_raw_os_error(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::os::unix::ffi::OsStringExt;

    fn word() -> impl Strategy<Value = OsString> {
        prop::collection::vec(1..=255u8, 0..9).prop_map(OsString::from_vec)
    }

    fn words() -> impl Strategy<Value = Vec<OsString>> {
        prop::collection::vec(word(), 0..5)
    }

    fn pairs() -> impl Strategy<Value = Vec<(OsString, OsString)>> {
        prop::collection::vec((word(), word()), 0..5)
    }

    fn call() -> impl Strategy<Value = Frame> {
        let flags = any::<(bool, bool, bool)>();
        let names = (word(), "[a-z]{0,5}", word(), word());
        (flags, names, words(), pairs()).prop_map(
            |((stdin, stdout, stderr), (root, team, here, program), argv, vars)| {
                Frame::Call(ForwardedCall {
                    root: root.into(),
                    team,
                    program,
                    argv,
                    vars,
                    here: here.into(),
                    terminals: Terminals {
                        stdin,
                        stdout,
                        stderr,
                    },
                })
            },
        )
    }

    fn frames() -> impl Strategy<Value = Frame> {
        let bytes = || prop::collection::vec(any::<u8>(), 0..99);
        prop_oneof![
            call(),
            bytes().prop_map(Frame::Input),
            bytes().prop_map(Frame::Out),
            bytes().prop_map(Frame::Err),
            (any::<i32>(), ".{0,9}").prop_map(|(number, text)| Frame::Failed(number, text)),
            any::<Option<i32>>().prop_map(|code| Frame::Ended(Ended::Exited(code))),
            ".{0,9}".prop_map(|why| Frame::Ended(Ended::Failed(why))),
            (word(), words(), pairs(), any::<u32>()).prop_map(|(program, args, vars, millis)| {
                Frame::Run(Child {
                    program,
                    args,
                    vars,
                    deadline: Duration::from_millis(millis.into()),
                })
            }),
            any::<u8>().prop_map(Frame::Exit),
            Just(Frame::Ended(Ended::TimedOut)),
            Just(Frame::Written),
            any::<u32>().prop_map(Frame::Want),
            any::<u32>().prop_map(Frame::Opened),
            word().prop_map(|path| Frame::Open(path.into())),
            Just(Frame::Elsewhere),
        ]
    }

    proptest! {
        #[test]
        fn what_is_sent_is_received(frames in prop::collection::vec(frames(), 1..4)) {
            let mut bytes = Vec::new();
            for frame in &frames {
                send(&mut bytes, frame).unwrap();
            }
            let mut from = bytes.as_slice();
            for frame in &frames {
                prop_assert_eq!(&receive(&mut from).unwrap(), frame);
            }
            prop_assert!(from.is_empty());
        }

        #[test]
        fn a_frame_that_was_cut_or_changed_is_an_error_or_another_frame(
            frame in frames(), at in any::<prop::sample::Index>(), byte in any::<u8>()
        ) {
            let mut bytes = Vec::new();
            send(&mut bytes, &frame).unwrap();
            let at = at.index(bytes.len());
            prop_assert!(receive(&mut &bytes[..at]).is_err());
            bytes[at] = byte;
            // No panic, and no memory by a length that lies.
            let _ = receive(&mut bytes.as_slice());
        }
    }

    #[test]
    fn a_length_that_lies_takes_no_memory() {
        for length in [0, FRAME_BYTES_MAX + 1, u32::MAX] {
            let mut bytes = length.to_le_bytes().to_vec();
            bytes.extend_from_slice(&[OUT; 9]);
            let error = receive(&mut bytes.as_slice()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{length}");
        }
        let mut short = FRAME_BYTES_MAX.to_le_bytes().to_vec();
        short.push(OUT);
        let error = receive(&mut short.as_slice()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        // As many words as a number can hold, none of which is there.
        let mut lying = vec![0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        lying.extend_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(decoded(CALL, &lying), None);
    }

    #[test]
    fn an_error_keeps_its_kind_and_its_words() {
        let full = io::Error::from_raw_os_error(28);
        let Frame::Failed(number, text) = failed(&full) else {
            panic!("no failure");
        };
        let passed_on = failure(number, text);
        assert_eq!(passed_on.kind(), io::ErrorKind::StorageFull);
        assert_eq!(passed_on.to_string(), full.to_string());
        assert_eq!(failure(0, "so".into()).to_string(), "so");
    }
}
