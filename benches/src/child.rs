//! Runs a command in another process. There only the page cache is warm, and the measured memory is the memory of the command
//! alone.
//!
//! The harness starts itself again as `--child ROOT COMMAND ARGUMENT`. The child prints [`Cost`] as one line of JSON.

use crate::{events, past};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use teamlog_team::log::append::Append;
use teamlog_team::log::rehydrate::Rehydrate;
use teamlog_team::message::send::Send;
use teamlog_team::story::trace::Trace;
use teamlog_team::task::claim::TaskClaim;
use teamlog_team::task::create::TaskCreate;
use teamlog_team::{Root, RootOptions, Team};

const FLAG: &str = "--child";

/// Cost of a command.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Cost {
    /// Time from opening the root until the team is open.
    pub open: Duration,
    /// Time from the open team to the answer.
    pub answer: Duration,
    /// Peak memory of the process (`VmHWM`) at the end, in KiB.
    pub peak_kib: u64,
}

impl Cost {
    /// Returns the sum of `open` and `answer`.
    pub fn total(&self) -> Duration {
        self.open + self.answer
    }
}

/// Arguments of a child.
pub struct Child {
    root: PathBuf,
    command: String,
    argument: String,
}

impl Child {
    /// Returns the arguments, if this process is a child.
    pub fn of_args() -> Option<Child> {
        let mut args = std::env::args().skip(1);
        if args.next()? != FLAG {
            return None;
        }
        Some(Child {
            root: args.next()?.into(),
            command: args.next()?,
            argument: args.next()?,
        })
    }

    /// Runs the command and prints its cost.
    pub fn run(&self) {
        let started = Instant::now();
        let root = Root::open(&self.root, RootOptions::default()).unwrap();
        let mut team = root.team(past::TEAM).unwrap();
        let opened = Instant::now();
        self.command(&mut team);
        let answered = Instant::now();
        let cost = Cost {
            open: opened - started,
            answer: answered - opened,
            peak_kib: peak_kib(),
        };
        println!("{}", serde_json::to_string(&cost).unwrap());
    }

    fn command(&self, team: &mut Team) {
        match self.command.as_str() {
            "trace" => {
                let trace = Trace {
                    trace_id: self.argument.clone(),
                    limit: Some(20),
                    ..Trace::default()
                };
                assert_eq!(team.trace(trace).unwrap().count, 20);
            }
            "send" => {
                let send = Send {
                    from: "agent-001".into(),
                    to: "agent-002".into(),
                    kind: "handoff".into(),
                    trace_id: Some(self.argument.clone()),
                    payload: Some(r#"{"subject":"one more"}"#.into()),
                    ..Send::default()
                };
                team.send(send).unwrap();
            }
            "append" => {
                let append = Append {
                    kind: "note_taken".into(),
                    ..Append::default()
                };
                team.append(append).unwrap();
            }
            "create" => {
                let create = TaskCreate {
                    task_id: Some(self.argument.clone()),
                    subject: "look again".into(),
                    ..TaskCreate::default()
                };
                team.task_create(create).unwrap();
            }
            "claim" => {
                let claim = TaskClaim {
                    task_id: self.argument.clone(),
                    worker: "agent-001".into(),
                    ..TaskClaim::default()
                };
                team.task_claim(claim).unwrap();
            }
            "rehydrate" => drop(
                team.rehydrate(Rehydrate::default(), &mut |_, _| {})
                    .unwrap(),
            ),
            "fill" => past::fill(team, self.argument.parse().unwrap(), events::trace_id),
            other => panic!("no such command: {other}"),
        }
    }
}

/// Runs a command on the team of `root` in a new process.
pub fn cost(root: &Path, command: &str, argument: &str) -> Cost {
    let output = Command::new(std::env::current_exe().unwrap())
        .arg(FLAG)
        .args([root.as_os_str(), command.as_ref(), argument.as_ref()])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text)
        .unwrap_or_else(|_| panic!("{command}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// Returns the peak memory of this process in KiB; 0 if the system does not report it.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number
        .and_then(|number| number.parse().ok())
        .unwrap_or_default()
}
