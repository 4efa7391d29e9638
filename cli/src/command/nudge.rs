//! `nudge`: agents that have mail and do nothing are told so. Its exit codes are its own: 0 done, 1 a program failed,
//! 2 what it was told to work with is wrong.

use crate::context::{Context, Unknown};
use crate::exit::{CommandError, Exit, Outcome};
use crate::render::delivery;
use std::path::{Path, PathBuf};
use std::time::Duration;
use teamlog_server::forward::{Child, Ended};
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
    program: &Path,
    context: &Context,
    team: &str,
    nudged: &Nudged,
    deadline: Duration,
) -> Executed {
    let root = context.path(context.data_root());
    let root = std::path::absolute(&root).unwrap_or(root);
    let ended = context.surroundings().run(&Child {
        program: program.into(),
        args: vec![nudged.agent.clone().into()],
        vars: vec![
            ("TEAMLOG_TEAM".into(), team.into()),
            ("TEAMLOG_NUDGED".into(), nudged.agent.clone().into()),
            ("TEAMLOG_UNREAD".into(), nudged.unread.to_string().into()),
            ("TEAMLOG_DATA_ROOT".into(), root.into()),
        ],
        deadline,
    });
    let (status, exit_code, error) = match ended {
        Ended::Exited(Some(0)) => (ExecStatus::Ok, Some(0), None),
        Ended::Exited(code) => (ExecStatus::Failed, code, None),
        Ended::TimedOut => (ExecStatus::TimedOut, None, None),
        Ended::Failed(why) => (ExecStatus::Failed, None, Some(why)),
    };
    Executed {
        status,
        exit_code,
        error,
    }
}
