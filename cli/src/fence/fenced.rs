//! A fenced command: its start, the signals that are meant for it, and its end, by itself or with a lease.

use super::family::{self, Stat};
use super::grounds::Node;
use super::rules;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, set_child_subreaper, wait};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::flag;
use signal_hook::low_level::pipe;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long a command may go on once a lease of its agent ended.
pub const GRACE: Duration = Duration::from_secs(5);
/// How often to look at the leases, at least.
const LOOK: Duration = Duration::from_secs(1);
/// How often to look whether all has ended.
const ENDING_LOOK: Duration = Duration::from_millis(50);
/// How long to wait for what was killed. It ends, unless the kernel is in the middle of something for it.
const KILLED: Duration = Duration::from_secs(2);

/// A signal, by number and by name, and whether a terminal sends it to the command by itself.
type PassedOn = (i32, Signal, bool);
/// Whether a signal came, its name, and whether a terminal sends it to the command by itself.
type Caught = (Arc<AtomicBool>, Signal, bool);

/// Signals that are passed on.
const PASSED_ON: [PassedOn; 6] = [
    (SIGHUP, Signal::HUP, false),
    (SIGINT, Signal::INT, true),
    (SIGQUIT, Signal::QUIT, true),
    (SIGTERM, Signal::TERM, false),
    (SIGUSR1, Signal::USR1, false),
    (SIGUSR2, Signal::USR2, false),
];

#[derive(Debug)]
pub enum NotStarted {
    /// The kernel does not see to the rules.
    Unfenced(String),
    /// The system's reason.
    Failed(io::Error),
}

#[derive(Debug)]
pub struct Fenced {
    pid: Pid,
    /// Readable once a signal came.
    wake: UnixStream,
    came: Vec<Caught>,
    /// With which code the command ended.
    code: Option<u8>,
}

impl Fenced {
    /// Starts a command that may write these places and no others.
    pub fn start(mut command: Command, writable: &[Node]) -> Result<Fenced, NotStarted> {
        let (wake, waker) = UnixStream::pair().map_err(NotStarted::Failed)?;
        let prepared = wake
            .set_nonblocking(true)
            .and_then(|()| pipe::register(SIGCHLD, waker.try_clone()?))
            .and_then(|_| Ok(set_child_subreaper(Some(Pid::INIT))?));
        prepared.map_err(NotStarted::Failed)?;
        // A command that was to ignore a signal has to start while this process still ignores it. All others are caught
        // before it starts: from then on it must not be left alone.
        let ignored = family::ignored_signals();
        let (later, before): (Vec<_>, Vec<_>) = PASSED_ON
            .into_iter()
            .partition(|(number, ..)| ignored & (1 << (number - 1)) != 0);
        let mut came = caught(&before, &waker).map_err(NotStarted::Failed)?;
        let child = started(&mut command, writable)?;
        let pid = Pid::from_raw(child.id().cast_signed())
            .ok_or_else(|| NotStarted::Failed(io::Error::other("it has no number")))?;
        came.extend(caught(&later, &waker).map_err(NotStarted::Failed)?);
        Ok(Fenced {
            pid,
            wake,
            came,
            code: None,
        })
    }

    /// Waits for its end, and passes signals on. Once a lease ended, which `lease_ended` knows, all that it started is
    /// told to end, and made to after [`GRACE`].
    pub fn attend(mut self, mut lease_ended: impl FnMut() -> bool) -> io::Result<u8> {
        loop {
            self.wait(LOOK)?;
            if let Some(code) = self.code {
                return Ok(code);
            }
            if lease_ended() {
                return self.end();
            }
        }
    }

    fn end(mut self) -> io::Result<u8> {
        family::signal(Signal::TERM);
        self.await_all(GRACE)?;
        let killed = Instant::now();
        // Again and again: what was on the way into the world at the first time is there at the second.
        while family::signal(Signal::KILL) && killed.elapsed() < KILLED {
            self.wait(ENDING_LOOK)?;
        }
        self.wait(Duration::ZERO)?;
        Ok(self.code.unwrap_or(code_of_signal(Signal::KILL.as_raw())))
    }

    /// Waits until nothing runs any more, at most so long.
    fn await_all(&mut self, most: Duration) -> io::Result<()> {
        let begun = Instant::now();
        while family::is_alive() && begun.elapsed() < most {
            self.wait(ENDING_LOOK)?;
        }
        Ok(())
    }

    /// Waits for a signal, at most so long, and does what it asks for.
    fn wait(&mut self, most: Duration) -> io::Result<()> {
        let most = Timespec::try_from(most).map_err(io::Error::other)?;
        let mut fds = [PollFd::new(&self.wake, PollFlags::IN)];
        match poll(&mut fds, Some(&most)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        // Nothing to read is what mostly happens.
        while matches!(self.wake.read(&mut [0; 64]), Ok(1..)) {}
        self.reap();
        self.pass_on();
        Ok(())
    }

    /// Takes note of what ended: the command, and orphans that it left to this process.
    fn reap(&mut self) {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            if pid == self.pid {
                let by_signal = status.terminating_signal().map(code_of_signal);
                let by_itself = status
                    .exit_status()
                    .and_then(|code| u8::try_from(code).ok());
                self.code = by_itself.or(by_signal);
            }
        }
    }

    fn pass_on(&self) {
        for (came, signal, by_terminal) in &self.came {
            // Its number is its own as long as nobody asked how it ended.
            let came = came.swap(false, Ordering::Relaxed) && self.code.is_none();
            if came && !(*by_terminal && in_foreground()) {
                let _ = kill_process(self.pid, *signal);
            }
        }
    }
}

/// Has signals noted, and the waiter woken by them, instead of what they do otherwise.
fn caught(signals: &[PassedOn], waker: &UnixStream) -> io::Result<Vec<Caught>> {
    let caught = signals.iter().map(|(number, signal, by_terminal)| {
        let came = Arc::default();
        flag::register(*number, Arc::clone(&came))?;
        pipe::register(*number, waker.try_clone()?)?;
        Ok((came, *signal, *by_terminal))
    });
    caught.collect()
}

/// Starts it from a thread of its own, whose rights never come back. What that starts inherits the lack of them.
fn started(command: &mut Command, writable: &[Node]) -> Result<Child, NotStarted> {
    let start = || {
        rules::restrict(writable).map_err(NotStarted::Unfenced)?;
        command.spawn().map_err(NotStarted::Failed)
    };
    thread::scope(|scope| {
        let thread = thread::Builder::new().spawn_scoped(scope, start);
        let started = thread.map_err(NotStarted::Failed)?.join();
        let ended = || NotStarted::Failed(io::Error::other("the thread that starts it ended"));
        started.map_err(|_| ended())?
    })
}

/// Whether what is typed at the terminal reaches this process, and so the command, which is of the same group.
fn in_foreground() -> bool {
    Stat::of("self").is_some_and(|stat| stat.foreground == Some(stat.group))
}

/// As shells have it.
fn code_of_signal(signal: i32) -> u8 {
    u8::try_from(signal).unwrap_or_default().saturating_add(128)
}
