//! `wait`: returns when something arrives for an agent.

use crate::command::prelude::*;
use std::time::Duration;
use teamlog_team::message::wait::{Wait, WaitStatus};

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Wait until something arrives for an agent: mail, a post, a repeated delivery, or what others do to its tasks\n\n\
        Exit code 0 when something is there, 1 when the time is up. --since with the last_seq of the answer before \
        misses nothing that came between.",
    after_help = "\
Examples:
  teamlog wait demo --agent dev --since 1 --timeout 60"
)]
pub struct Args {
    /// The team
    team: String,
    /// For whom [default: who is acting]
    #[arg(long)]
    agent: Option<String>,
    /// At most so many seconds [default: for ever]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<u64>,
    /// What counts as known: everything up to that event [default: everything there is]
    #[arg(long, value_name = "SEQ", value_parser = super::whole::<u64>)]
    since: Option<u64>,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        let input = Wait {
            agent: context.agent("--agent", self.agent)?,
            timeout_ms: Some(self.timeout.unwrap_or(u64::MAX)),
            since: self.since,
        };
        let answer = context.read(&self.team, input)?;
        let arrived = answer.status == WaitStatus::Arrived;
        context.end(
            Exit::Refused.unless(arrived),
            &answer,
            render::hand::arrived,
        )
    }
}

/// A century is as good as for ever.
const SECONDS_MAX: f64 = 3e9;

fn seconds(text: &str) -> Result<u64, String> {
    text.parse::<f64>()
        .ok()
        .filter(|seconds| (0.0..=SECONDS_MAX).contains(seconds))
        .map(|seconds| Duration::from_secs_f64(seconds).as_millis())
        .and_then(|millis| u64::try_from(millis).ok())
        .ok_or_else(|| "must be a number of seconds, 0 or more".to_owned())
}
