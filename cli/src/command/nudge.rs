//! `nudge`: agents that have mail and do nothing are told so. Its exit codes are its own: 0 done, 1 a program failed,
//! 2 what it was told to work with is wrong.

use crate::context::{Context, Unknown};
use crate::exit::{CommandError, Exit, Outcome};
use crate::render::delivery;
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use teamlog_team::Team;
use teamlog_team::command::nudge::{ExecStatus, Executed, Nudge, NudgeAnswer, Nudged};

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Tell idle agents with unread mail so, once per cooldown\n\nAn agent is idle when its own last event is \
        old enough, or when its last message was an idle_notification. It gets one agent_wakeup_required message; with \
        --exec a program is run as well. Exit codes: 0 done, 1 a program failed, 2 unknown team or bad setting.",
    after_help = "\
Examples:
  teamlog nudge demo --dry-run
  teamlog nudge demo --idle-seconds 60 --cooldown-seconds 600
  teamlog nudge demo --exec true"
)]
pub struct Args {
    /// The team
    team: String,
    /// Only say who would be nudged
    #[arg(long)]
    dry_run: bool,
    /// Least seconds between two nudges of one agent [default: nudge.cooldown_seconds]
    #[arg(long, value_name = "SECONDS", value_parser = super::whole::<u64>)]
    cooldown_seconds: Option<u64>,
    /// Seconds without an event of its own after which an agent is idle [default: nudge.idle_seconds]
    #[arg(long, value_name = "SECONDS", value_parser = super::whole::<u64>)]
    idle_seconds: Option<u64>,
    /// Run this for each nudged agent: its name is the argument; TEAMLOG_TEAM, TEAMLOG_NUDGED, TEAMLOG_UNREAD and
    /// TEAMLOG_DATA_ROOT are set, output goes to standard error
    #[arg(long, value_name = "PROGRAM", conflicts_with = "dry_run")]
    exec: Option<PathBuf>,
    /// Seconds after which such a program is killed
    #[arg(long, value_name = "SECONDS", default_value = "60", requires = "exec", value_parser = super::whole::<u64>)]
    exec_timeout_seconds: u64,
}

/// How often to look whether a program has ended.
const LOOK: Duration = Duration::from_millis(20);

impl Args {
    /// Runs it.
    pub fn run(self, context: &mut Context) -> Outcome {
        context.records(Unknown::Repeat);
        let (team, mut answer) = self.nudge(context).map_err(|error| match error.exit() {
            Exit::Refused => error.ending(Exit::Usage),
            _ => error,
        })?;
        if let Some(program) = &self.exec {
            let timeout = Duration::from_secs(self.exec_timeout_seconds);
            for nudged in &mut answer.nudged {
                nudged.exec = Some(run(program, context, &answer.team, nudged, timeout));
            }
        }
        let failed = answer.nudged.iter().any(Nudged::failed);
        context.answer(&answer, delivery::nudged)?;
        context.done(team, if failed { Exit::Refused } else { Exit::Done })
    }

    fn nudge(&self, context: &mut Context) -> Result<(Team, NudgeAnswer), CommandError> {
        let mut team = context.team(&self.team)?;
        let answer = team.nudge(Nudge {
            dry_run: self.dry_run,
            cooldown_seconds: self.cooldown_seconds,
            idle_seconds: self.idle_seconds,
            actor: context.actor(),
        })?;
        Ok((team, answer))
    }
}

fn run(
    program: &PathBuf,
    context: &Context,
    team: &str,
    nudged: &Nudged,
    timeout: Duration,
) -> Executed {
    let root = std::path::absolute(context.data_root());
    let started = Command::new(program)
        .arg(&nudged.agent)
        .env("TEAMLOG_TEAM", team)
        .env("TEAMLOG_NUDGED", &nudged.agent)
        .env("TEAMLOG_UNREAD", nudged.unread.to_string())
        .env(
            "TEAMLOG_DATA_ROOT",
            root.as_deref().unwrap_or(context.data_root()),
        )
        .stdin(Stdio::null())
        // Standard output is for the answer.
        .stdout(io::stderr())
        .spawn();
    started
        .and_then(|child| ended(child, timeout))
        .unwrap_or_else(|error| Executed {
            status: ExecStatus::Failed,
            exit_code: None,
            error: Some(error.to_string()),
        })
}

fn ended(mut child: Child, timeout: Duration) -> io::Result<Executed> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Executed {
                status: match status.success() {
                    true => ExecStatus::Ok,
                    false => ExecStatus::Failed,
                },
                exit_code: status.code(),
                error: None,
            });
        }
        if started.elapsed() >= timeout {
            child.kill()?;
            child.wait()?;
            return Ok(Executed {
                status: ExecStatus::TimedOut,
                exit_code: None,
                error: None,
            });
        }
        thread::sleep(LOOK);
    }
}
