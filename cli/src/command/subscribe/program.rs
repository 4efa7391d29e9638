//! Runs the program of a subscription for an event.

use super::consumer::{Job, Run};
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use teamlog_team::projections::RefKind;
use teamlog_team::subscription::fetch::DeliveredEvent;

pub struct Program<'a> {
    pub path: &'a Path,
    pub arguments: &'a [OsString],
    pub team: &'a str,
    pub subscription: &'a str,
    /// Time after which the program is killed.
    pub deadline: Option<Duration>,
}

/// A running program.
struct RunningProgram {
    child: Child,
    started: Instant,
    deadline: Option<Duration>,
}

impl Program<'_> {
    /// Starts the program with the event on standard input.
    ///
    /// # Errors
    /// The program cannot be started. This is no failed attempt of the event, because every other event would fail as well.
    pub fn start(&self, delivered: &DeliveredEvent) -> std::io::Result<Box<dyn Job>> {
        Ok(Box::new(RunningProgram {
            child: self.spawn(delivered)?,
            started: Instant::now(),
            deadline: self.deadline,
        }))
    }

    fn spawn(&self, delivered: &DeliveredEvent) -> std::io::Result<Child> {
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

impl Job for RunningProgram {
    fn poll(&mut self) -> Option<Run> {
        match self.child.try_wait() {
            Ok(None) => {}
            Ok(Some(status)) => return Some(outcome(status)),
            Err(error) => return Some(Run::failed(error.to_string())),
        }
        let deadline = self.deadline?;
        if self.started.elapsed() < deadline {
            return None;
        }
        self.cancel();
        Some(Run::failed(format!(
            "killed after {} s",
            deadline.as_secs()
        )))
    }

    fn cancel(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn outcome(status: ExitStatus) -> Run {
    match status.success() {
        true => Run::Succeeded,
        false => Run::failed(status.to_string()),
    }
}
