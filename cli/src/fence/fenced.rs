//! A child process to which signals are forwarded. The descendants of the child are ended together with the child.
//!
//! `guard exec` nests two such child processes: the supervisor runs the init stage ([`Sandbox::keep`]), and the init
//! stage runs the command ([`Sandbox::hold`]). The supervisor watches the leases. The init stage ends the whole
//! process tree, even if the supervisor was killed.

use super::family::{self, Stat};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getppid, kill_process, pidfd_open, set_child_subreaper,
    wait,
};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGURG, SIGUSR1, SIGUSR2};
use signal_hook::flag;
use signal_hook::low_level::pipe;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Time that a command gets to end after a lease of its agent ended.
pub const GRACE: Duration = Duration::from_secs(5);
/// Interval at which the leases are checked.
const LOOK: Duration = Duration::from_secs(1);
/// Interval at which the end of all processes is checked.
const ENDING_LOOK: Duration = Duration::from_millis(20);
/// Maximum wait for killed processes. Killed processes end quickly unless the kernel is busy in a system call.
const KILLED: Duration = Duration::from_secs(2);
/// Signal with which the supervisor tells the init stage to end the command. Other processes ignore this signal, so the
/// supervisor may send it repeatedly.
const END: Signal = Signal::URG;

/// A signal by number and by name. The flag is true if a terminal also sends this signal to the command.
type PassedOn = (i32, Signal, bool);
/// A flag for a caught signal, and the signal's name. The last flag is true if a terminal also sends the signal to the
/// command.
type Caught = (Arc<AtomicBool>, Signal, bool);

/// Signals to forward.
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
    /// The kernel does not enforce the rules.
    Unfenced(String),
    /// A system call failed.
    Failed(io::Error),
}

#[derive(Debug)]
pub struct Sandbox {
    pid: Pid,
    /// Becomes readable after a signal arrived.
    wake: UnixStream,
    came: Vec<Caught>,
    /// True after [`END`] arrived.
    told_to_end: Arc<AtomicBool>,
    /// Supervisor process. This process ends when the supervisor ends.
    supervisor: Option<OwnedFd>,
    /// Exit code of the child, set after the child ended.
    code: Option<u8>,
    ended_by_signal: bool,
}

/// Opens the supervisor for [`Sandbox::hold`]. Fails if the parent of this process no longer has the id `number`.
pub fn supervisor(number: i32) -> io::Result<OwnedFd> {
    let gone = || io::Error::other("its supervisor ended");
    let pid = Pid::from_raw(number).ok_or_else(gone)?;
    let supervisor = pidfd_open(pid, PidfdFlags::empty())?;
    // The pid of this process's parent is not reused while that process is the parent. After the end of the parent,
    // this process has another parent.
    match getppid() == Some(pid) {
        true => Ok(supervisor),
        false => Err(gone()),
    }
}

impl Sandbox {
    /// Starts a command from a thread that first dropped rights with `restrict`. Also returns the result of `restrict`.
    pub fn start<R: Send>(
        mut command: Command,
        restrict: impl FnOnce() -> Result<R, String> + Send,
    ) -> Result<(Sandbox, R), NotStarted> {
        let (wake, waker) = UnixStream::pair().map_err(NotStarted::Failed)?;
        let told_to_end = Arc::default();
        let prepared = wake
            .set_nonblocking(true)
            .and_then(|()| pipe::register(SIGCHLD, waker.try_clone()?))
            .and_then(|_| flag::register(SIGURG, Arc::clone(&told_to_end)))
            .and_then(|_| pipe::register(SIGURG, waker.try_clone()?))
            .and_then(|_| Ok(set_child_subreaper(Some(Pid::INIT))?));
        prepared.map_err(NotStarted::Failed)?;
        // The command ignores a signal only if this process ignores the signal at the start. Catch all other signals before the
        // start, because this process must not end and leave the command running.
        let ignored = family::ignored_signals();
        let (later, before): (Vec<_>, Vec<_>) = PASSED_ON
            .into_iter()
            .partition(|(number, ..)| ignored & (1 << (number - 1)) != 0);
        let mut came = caught(&before, &waker).map_err(NotStarted::Failed)?;
        let (child, told) = started(&mut command, restrict)?;
        let pid = Pid::from_raw(child.id().cast_signed())
            .ok_or_else(|| NotStarted::Failed(io::Error::other("it has no number")))?;
        came.extend(caught(&later, &waker).map_err(NotStarted::Failed)?);
        let fenced = Sandbox {
            pid,
            wake,
            came,
            told_to_end,
            supervisor: None,
            code: None,
            ended_by_signal: false,
        };
        Ok((fenced, told))
    }

    /// Waits until the init stage ends, and forwards signals to it. After `lease_ended` returns true, tells the stage
    /// to end the command. If the stage was killed, kills all processes of the command.
    pub fn keep(mut self, mut lease_ended: impl FnMut() -> bool) -> io::Result<u8> {
        while self.code.is_none() && !lease_ended() {
            self.wait(LOOK)?;
        }
        let begun = Instant::now();
        while self.code.is_none() && begun.elapsed() < GRACE + KILLED {
            // A pid is not reused before its process was waited for.
            let _ = kill_process(self.pid, END);
            self.wait(ENDING_LOOK)?;
        }
        if self.code.is_none() || self.ended_by_signal {
            self.kill_all(Some(KILLED))?;
        }
        Ok(self.code.unwrap_or(code_of_signal(Signal::KILL.as_raw())))
    }

    /// Waits until the command ends, and forwards signals to it. After the command ended or the supervisor asked for the end,
    /// tells the descendants to end, and kills them after [`GRACE`]. If the supervisor has ended, kills them at once.
    pub fn hold(mut self, supervisor: OwnedFd) -> io::Result<u8> {
        self.supervisor = Some(supervisor);
        while self.code.is_none() && self.supervisor.is_some() && !self.is_told_to_end() {
            self.wait(LOOK)?;
        }
        if self.supervisor.is_some() && family::signal(Signal::TERM) {
            self.await_all(GRACE)?;
        }
        self.kill_all(None)?;
        Ok(self.code.unwrap_or(code_of_signal(Signal::KILL.as_raw())))
    }

    fn is_told_to_end(&self) -> bool {
        self.told_to_end.load(Ordering::Relaxed)
    }

    /// Kills all descendants repeatedly, because a process that is just starting may be missed in the first round.
    fn kill_all(&mut self, most: Option<Duration>) -> io::Result<()> {
        let begun = Instant::now();
        while family::signal(Signal::KILL) && most.is_none_or(|most| begun.elapsed() < most) {
            self.wait(ENDING_LOOK)?;
        }
        self.wait(Duration::ZERO)
    }

    /// Waits at most `most` until all descendants have ended or the supervisor has ended.
    fn await_all(&mut self, most: Duration) -> io::Result<()> {
        let begun = Instant::now();
        while family::is_alive() && self.supervisor.is_some() && begun.elapsed() < most {
            self.wait(ENDING_LOOK)?;
        }
        Ok(())
    }

    /// Waits at most `most` for a signal, and handles it.
    fn wait(&mut self, most: Duration) -> io::Result<()> {
        let most = Timespec::try_from(most).map_err(io::Error::other)?;
        let mut fds = vec![PollFd::new(&self.wake, PollFlags::IN)];
        let supervisor = self.supervisor.as_ref();
        fds.extend(supervisor.map(|supervisor| PollFd::new(supervisor, PollFlags::IN)));
        match poll(&mut fds, Some(&most)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let supervisor_ended = fds.get(1).is_some_and(|fd| !fd.revents().is_empty());
        if supervisor_ended {
            self.supervisor = None;
        }
        // Empty the pipe. Usually there is nothing to read.
        while matches!(self.wake.read(&mut [0; 64]), Ok(1..)) {}
        self.reap();
        self.pass_on();
        Ok(())
    }

    /// Waits for children that have ended: the command and adopted orphans.
    fn reap(&mut self) {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            if pid == self.pid {
                let by_signal = status.terminating_signal().map(code_of_signal);
                let by_itself = status
                    .exit_status()
                    .and_then(|code| u8::try_from(code).ok());
                self.code = by_itself.or(by_signal);
                self.ended_by_signal = by_signal.is_some();
            }
        }
    }

    fn pass_on(&self) {
        for (came, signal, by_terminal) in &self.came {
            // A pid is not reused before its process was waited for.
            let came = came.swap(false, Ordering::Relaxed) && self.code.is_none();
            if came && !(*by_terminal && in_foreground()) {
                let _ = kill_process(self.pid, *signal);
            }
        }
    }
}

/// Catches signals. Each signal sets its flag and wakes the waiter.
fn caught(signals: &[PassedOn], waker: &UnixStream) -> io::Result<Vec<Caught>> {
    let caught = signals.iter().map(|(number, signal, by_terminal)| {
        let came = Arc::default();
        flag::register(*number, Arc::clone(&came))?;
        pipe::register(*number, waker.try_clone()?)?;
        Ok((came, *signal, *by_terminal))
    });
    caught.collect()
}

/// Starts the command from a separate thread, which first drops its rights irreversibly. The command inherits the
/// restriction.
fn started<R: Send>(
    command: &mut Command,
    restrict: impl FnOnce() -> Result<R, String> + Send,
) -> Result<(Child, R), NotStarted> {
    let start = || {
        let told = restrict().map_err(NotStarted::Unfenced)?;
        let child = command.spawn().map_err(NotStarted::Failed)?;
        Ok((child, told))
    };
    thread::scope(|scope| {
        let thread = thread::Builder::new().spawn_scoped(scope, start);
        let started = thread.map_err(NotStarted::Failed)?.join();
        let ended = || NotStarted::Failed(io::Error::other("the thread that starts it ended"));
        started.map_err(|_| ended())?
    })
}

/// Returns true if this process is in the foreground group of its terminal. The command is in the same group.
fn in_foreground() -> bool {
    Stat::for_process("self").is_some_and(|stat| stat.foreground == Some(stat.group))
}

/// Returns the exit code that shells use for a signal.
fn code_of_signal(signal: i32) -> u8 {
    u8::try_from(signal).unwrap_or_default().saturating_add(128)
}
