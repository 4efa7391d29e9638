//! `nudge`: agents that have mail and do nothing are told so. Its exit codes are its own: 0 done, 1 a program failed,
//! 2 what it was told to work with is wrong.

use super::all_teams::{AllAnswer, Which};
use crate::context::{Context, Unknown};
use crate::exit::{CommandError, Exit, Outcome};
use crate::render::delivery;
use std::path::{Path, PathBuf};
use std::time::Duration;
use teamlog_server::forward::{Child, Ended};
use teamlog_team::Team;
use teamlog_team::message::nudge::{ExecStatus, Executed, Nudge, NudgeAnswer, Nudged};

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Tell idle agents with unread mail so, once per cooldown\n\nAn agent is idle when its own last event is \
        old enough, or when its last message was an idle_notification. It gets one agent_wakeup_required message, and no \
        second one while that is unread; with --exec a program is run as well. Exit codes: 0 done, 1 a program failed, 2 unknown team or bad setting.",
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
    /// Every team of the data root that was not closed; one that fails does not hold up the others
    #[arg(long, alias = "all", conflicts_with = "team")]
    all_teams: bool,
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
        let wrong = |error: CommandError| match error.exit() {
            Exit::Refused => error.ending(Exit::Usage),
            _ => error,
        };
        let Some(team) = &self.team else {
            return self.all_teams(context).map_err(wrong);
        };
        let (team, answer) = self.one(context, team).map_err(wrong)?;
        context.answer(&answer, delivery::nudged)?;
        context.done(team, exit(&answer))
    }

    fn one(&self, context: &mut Context, team: &str) -> Result<(Team, NudgeAnswer), CommandError> {
        let mut team = context.team(team)?;
        let answer = self.nudge(context, &mut team)?;
        Ok((team, answer))
    }

    fn all_teams(&self, context: &mut Context) -> Outcome {
        let all = AllAnswer::of(context, Which::Open, |team| {
            let answer = self.nudge(context, team)?;
            team.finish()?;
            Ok(answer)
        })?;
        context.answer(&all, |all, view| all.shown(view, delivery::nudged))?;
        context.out.flush()?;
        let done = all.teams.iter().all(|answer| exit(answer) == Exit::Done);
        Ok(match done {
            true => all.exit(Exit::Refused),
            false => Exit::Refused,
        })
    }

    fn nudge(&self, context: &Context, team: &mut Team) -> Result<NudgeAnswer, CommandError> {
        let mut answer = team.nudge(Nudge {
            dry_run: self.dry_run,
            cooldown_seconds: self.cooldown_seconds,
            idle_seconds: self.idle_seconds,
            actor: context.actor(),
        })?;
        if let Some(program) = &self.exec {
            let timeout = Duration::from_secs(self.exec_timeout_seconds);
            let team = answer.team.clone();
            for nudged in answer.nudged.iter_mut().chain(&mut answer.reminded) {
                nudged.exec = Some(run(program, context, &team, nudged, timeout));
            }
        }
        Ok(answer)
    }
}

fn exit(answer: &NudgeAnswer) -> Exit {
    match answer.all().any(Nudged::failed) {
        true => Exit::Refused,
        false => Exit::Done,
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
    let ended = context.env().run(&Child {
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
