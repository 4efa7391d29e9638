//! `nudge`: wakes idle agents that have unread mail.
//!
//! Exit codes of this command: 0 success, 1 a program failed, 2 an unknown team or a bad setting.

use super::all_teams::{AllAnswer, Which};
use crate::call::Call;
use crate::command::child;
use crate::command::prelude::*;
use crate::render::delivery;
use std::io;
use std::process::{Command, Stdio};
use std::time::Duration;
use teamlog_team::message::nudge::{ExecStatus, Executed, Nudge, NudgeAnswer, Nudged};

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Notify idle agents about unread mail, posts or news of their tasks, once per cooldown\n\nAn agent is idle if its last event is \
        old enough, or if its last message was an idle_notification. An idle agent gets one agent_wakeup_required message, and no second one while the first is unread. With --exec a program runs as well. Exit codes: 0 done, 1 a program failed, 2 unknown team or bad setting.",
    after_help = "\
Examples:
  teamlog nudge demo --dry-run
  teamlog nudge --all-teams
  teamlog nudge demo --idle-seconds 60 --cooldown-seconds 600
  teamlog nudge demo --exec true"
)]
pub struct Args {
    /// The team
    #[arg(required_unless_present = "all_teams")]
    team: Option<String>,
    /// Nudge in every open team of the data root; a failure in one team does not stop the others
    #[arg(long, alias = "all", conflicts_with = "team")]
    all_teams: bool,
    #[command(flatten)]
    input: Nudge,
    /// Program to run per nudged agent, with the agent's name as argument; TEAMLOG_TEAM, TEAMLOG_NUDGED,
    /// TEAMLOG_UNREAD, TEAMLOG_POSTS, TEAMLOG_NEWS and TEAMLOG_DATA_ROOT are set, and output goes to standard error
    #[arg(long, value_name = "PROGRAM", conflicts_with = "dry_run")]
    exec: Option<PathBuf>,
    /// Seconds after which the program is killed
    #[arg(long, value_name = "SECONDS", default_value = "60", requires = "exec", value_parser = super::whole::<u64>)]
    exec_timeout_seconds: u64,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        context.records(Repeat::Same);
        let wrong = |error: CommandError| match error.exit() {
            Exit::Refused => error.ending(Exit::Usage),
            _ => error,
        };
        let Some(team) = &self.team else {
            return self.all_teams(context).map_err(wrong);
        };
        let answer = self.nudge(context, team).map_err(wrong)?;
        context.end(exit(&answer), &answer, delivery::nudged)
    }

    fn all_teams(&self, context: &mut Context) -> Outcome {
        let all = AllAnswer::collect(context, Which::Open, |context, team| {
            self.nudge(context, team)
        })?;
        let done = all.teams.iter().all(|answer| exit(answer) == Exit::Done);
        let exit = all.exit(Exit::Refused, done);
        context.end(exit, &all, |all, view| all.shown(view, delivery::nudged))
    }

    fn nudge(&self, context: &mut Context, team: &str) -> Result<NudgeAnswer, CommandError> {
        let mut answer = context.execute(&Call::operation(), team, self.input.clone())?;
        if let Some(program) = &self.exec {
            let timeout = Duration::from_secs(self.exec_timeout_seconds);
            for nudged in answer.nudged.iter_mut().chain(&mut answer.reminded) {
                nudged.exec = Some(run(program, context, team, nudged, timeout));
            }
        }
        Ok(answer)
    }
}

fn exit(answer: &NudgeAnswer) -> Exit {
    Exit::Refused.unless(!answer.all().any(Nudged::failed))
}

fn run(
    program: &Path,
    context: &Context,
    team: &str,
    nudged: &Nudged,
    deadline: Duration,
) -> Executed {
    // The data root exists, because the team was opened in it.
    let root = context.data_root().unwrap_or(Path::new(""));
    let root = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
    let process = Command::new(program)
        .arg(&nudged.agent)
        .env("TEAMLOG_TEAM", team)
        .env("TEAMLOG_NUDGED", &nudged.agent)
        .env("TEAMLOG_UNREAD", nudged.unread.to_string())
        .env("TEAMLOG_POSTS", nudged.posts.to_string())
        .env("TEAMLOG_NEWS", nudged.news.to_string())
        .env("TEAMLOG_DATA_ROOT", root)
        .stdin(Stdio::null())
        // Send the program's output to standard error, because standard output has the answer.
        .stdout(io::stderr())
        .spawn();
    let ended = process.and_then(|mut process| child::ended(&mut process, deadline));
    let (status, exit_code, error) = match ended {
        Ok(Some(status)) if status.success() => (ExecStatus::Ok, Some(0), None),
        Ok(Some(status)) => (ExecStatus::Failed, status.code(), None),
        Ok(None) => (ExecStatus::TimedOut, None, None),
        Err(error) => (ExecStatus::Failed, None, Some(error.to_string())),
    };
    Executed {
        status,
        exit_code,
        error,
    }
}
