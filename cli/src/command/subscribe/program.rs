//! Runs the program of a subscription for an event.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use teamlog_team::projections::RefKind;
use teamlog_team::subscription::fetch::DeliveredEvent;

/// Interval at which the running program is polled.
const LOOK: Duration = Duration::from_millis(5);
/// Time for the running program to end after a signal, before it is killed.
const GRACE: Duration = Duration::from_secs(5);

pub struct Program<'a> {
    pub path: &'a Path,
    pub arguments: &'a [OsString],
    pub team: &'a str,
    pub subscription: &'a str,
    /// Time after which the program is killed.
    pub deadline: Option<Duration>,
    /// Interval at which the lease is renewed while the program runs.
    pub renewal: Duration,
}

/// The outcome of a run.
#[derive(Debug, PartialEq, Eq)]
pub enum Run {
    Succeeded,
    /// The reason, for people.
    Failed(String),
    /// This process was told to end before the program succeeded.
    Interrupted,
}

impl Program<'_> {
    /// Runs the program with the event on standard input, and calls `renew` at intervals. If `renew` fails, kills the program.
    pub fn run<E>(
        &self,
        delivered: &DeliveredEvent,
        is_stopping: &dyn Fn() -> bool,
        mut renew: impl FnMut() -> Result<(), E>,
    ) -> Result<Run, E> {
        let mut child = match self.start(delivered) {
            Ok(child) => child,
            Err(error) => {
                let path = self.path.display();
                return Ok(Run::Failed(format!("cannot run {path}: {error}")));
            }
        };
        let started = Instant::now();
        let mut renewed = started;
        let mut stopped = None;
        loop {
            match child.try_wait() {
                Ok(None) => {}
                Ok(Some(status)) => return Ok(outcome(status, stopped.is_some())),
                Err(error) => return Ok(Run::Failed(error.to_string())),
            }
            if is_stopping() {
                stopped.get_or_insert_with(Instant::now);
            }
            if stopped.is_some_and(|at| at.elapsed() >= GRACE) {
                kill(&mut child);
                return Ok(Run::Interrupted);
            }
            if let Some(deadline) = self.deadline.filter(|most| started.elapsed() >= *most) {
                kill(&mut child);
                let seconds = deadline.as_secs();
                return Ok(Run::Failed(format!("killed after {seconds} s")));
            }
            if renewed.elapsed() >= self.renewal {
                renewed = Instant::now();
                if let Err(error) = renew() {
                    kill(&mut child);
                    return Err(error);
                }
            }
            thread::sleep(LOOK);
        }
    }

    fn start(&self, delivered: &DeliveredEvent) -> std::io::Result<Child> {
        let event = &delivered.event.event;
        let task = event.refs.get(RefKind::Task);
        let mut child = Command::new(self.path)
            .args(self.arguments)
            .env("TEAMLOG_TEAM", self.team)
            .env("TEAMLOG_SUBSCRIPTION", self.subscription)
            .env("TEAMLOG_EVENT_SEQ", event.seq.to_string())
            .env("TEAMLOG_EVENT_KIND", &*event.kind)
            .env("TEAMLOG_EVENT_TASK", task.unwrap_or_default())
            .env("TEAMLOG_EVENT_ATTEMPT", delivered.attempt.to_string())
            .stdin(Stdio::piped())
            .spawn()?;
        if let Some(mut input) = child.stdin.take() {
            let line = format!("{}\n", delivered.event.json());
            // Writes on another thread, because a program that does not read would block this one. A program may also end
            // without reading.
            thread::Builder::new().spawn(move || {
                let _ = input.write_all(line.as_bytes());
            })?;
        }
        Ok(child)
    }
}

fn kill(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

fn outcome(status: ExitStatus, is_stopping: bool) -> Run {
    match status.success() {
        true => Run::Succeeded,
        // The signal that ends this process may also have ended the program.
        false if is_stopping => Run::Interrupted,
        false => Run::Failed(status.to_string()),
    }
}
