//! `wait`: waits until a message or other news arrives for an agent.

use crate::command::prelude::*;
use std::time::Duration;
use teamlog_team::message::wait::{Wait, WaitStatus};

subcommands! {
    operation::<Wait>("wait", render::hand::arrived)
        .agent("agent", |wait| &mut wait.agent)
        .with(|wait, Timeout { timeout }, _| {
            wait.timeout_ms = Some(timeout.unwrap_or(u64::MAX));
            Ok(())
        })
        .exit(|answer| Exit::Refused.unless(answer.status == WaitStatus::Arrived))
        .details("Mail, a post, a repeated delivery, and changes of the agent's tasks by others end the wait. Exit code 0 if something \
            arrived, 1 after the timeout. With --since and the last_seq of the previous answer, no event is missed.")
        .examples("\
  teamlog wait demo --agent dev --since 1 --timeout 60
  teamlog wait demo --agent dev --since 2 --json")
}

// The maximum wait. Not a doc comment, because clap would print it in the help of the command.
#[derive(Debug, clap::Args)]
#[group(skip)]
struct Timeout {
    /// Longest wait in seconds [default: no limit]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<u64>,
}

/// Maximum timeout in seconds, about a century.
const SECONDS_MAX: f64 = 3e9;

fn seconds(text: &str) -> Result<u64, String> {
    text.parse::<f64>()
        .ok()
        .filter(|seconds| (0.0..=SECONDS_MAX).contains(seconds))
        .map(|seconds| Duration::from_secs_f64(seconds).as_millis())
        .and_then(|millis| u64::try_from(millis).ok())
        .ok_or_else(|| "must be a number of seconds, 0 or more".to_owned())
}
