//! `doctor`: checks, cleans and repairs a team.

use crate::command::prelude::*;
use crate::forward::control;
use crate::git;
use crate::progress::Progress;
use crate::render::doctor;
use teamlog_team::doctor::DoctorAnswer;
use teamlog_team::doctor::repair::RepairAnswer;
use teamlog_team::doctor::{DoctorCheck, SAMPLE, repair};
use teamlog_team::handle::staging::CleanAnswer;

subcommands! {
    @examples "\
  teamlog doctor check demo
  teamlog doctor clean";
    CHECK = own(
        answer::<DoctorAnswer>("check"),
        "Check log, state, index, views and environment; show each problem with the command that repairs it. Changes nothing",
        Check::run,
    );
    REPAIR = own(
        changed::<RepairAnswer>("repair"),
        "Cut a log after an event, to remove damage (the removed part is kept in the team's archive), or accept a rollback",
        Repair::run,
    );
    CLEAN = own(
        answer::<CleanAnswer>("clean"),
        "Remove what killed commands left in the data root: teams half built, teams half purged",
        Clean::run,
    );
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog doctor check demo
  teamlog doctor check demo --deep
  teamlog doctor check demo --sample-size 0 --json

Exit codes:
  0 healthy, or worth a look   2 unhealthy")]
struct Check {
    /// The team
    team: String,
    /// Check everything; without this option, a log of more than 1,000 events is checked by a sample, and in full only
    /// if the sample finds a problem
    #[arg(long)]
    deep: bool,
    /// Number of events and of messages to look up one by one; 0 checks everything
    #[arg(long, value_name = "N", default_value_t = SAMPLE, value_parser = super::whole::<u64>)]
    sample_size: u64,
    /// A further directory of backups to check; the directories that were given to `backup` are known already
    #[arg(long = "backup", value_name = "DIR")]
    backups: Vec<PathBuf>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog doctor clean
  teamlog doctor clean --yes --json")]
struct Clean {
    /// Carry out the removal; without this option, only show it
    #[arg(long)]
    yes: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog doctor repair demo --accept-rollback
  teamlog doctor repair demo --to 2
  teamlog doctor repair demo --to 2 --yes --json")]
struct Repair {
    /// The team
    team: String,
    /// Seq of the last event to keep, which must be the last event of its group
    #[arg(long, value_name = "SEQ", value_parser = super::whole::<u64>)]
    to: Option<u64>,
    /// Continue without events that were lost because the log was restored from an older state; records the known facts about the lost
    /// events
    #[arg(long, conflicts_with_all = ["to", "yes"])]
    accept_rollback: bool,
    /// Carry out the removal; without this option, only show it
    #[arg(long)]
    yes: bool,
}

impl Check {
    fn run(self, context: &mut Context) -> Outcome {
        let root = context.root(&self.team)?;
        let tracked = git::tracked(context.data_root()?, &self.team);
        let daemon = control::answering(context.data_root()?, &self.team);
        let mut progress = Progress::on_stderr("checking", context.env());
        let answer = root.doctor_check(
            DoctorCheck {
                team: self.team,
                sample_size: self.sample_size,
                deep: self.deep,
                program: context.program(),
                backups: self.backups.clone(),
                data_root: context.data_root()?.to_owned(),
                tracked,
                daemon,
            },
            &mut |done, all| progress.show(done, all),
        );
        progress.clear();
        let answer = answer?;
        let deep = context.command(&format!("doctor check {} --deep", quoted(&answer.team)));
        // Do not run maintenance after a check, because a check changes nothing.
        let exit = Exit::UNHEALTHY.unless(answer.exit_code == 0);
        context.end(exit, &answer, |answer, view| {
            doctor::checked(answer, &deep, view)
        })
    }
}

impl Clean {
    fn run(self, context: &mut Context) -> Outcome {
        let answer = context.data()?.clean(self.yes)?;
        let again = context.command("doctor clean --yes");
        context.end(Exit::Done, &answer, |answer, view| {
            doctor::cleaned(answer, &again, view)
        })
    }
}

impl Repair {
    fn run(self, context: &mut Context) -> Outcome {
        let to = match (self.to, self.accept_rollback) {
            (None, false) => return Err(unsaid()),
            (to, _) => to,
        };
        let answer = context.alone(&self.team, |context| {
            let mut team = context.team(&self.team)?;
            let Some(to) = to else {
                context.records(Repeat::Same);
                return Ok(team.accept_rollback(context.doer().as_deref())?);
            };
            if self.yes {
                context.records(Repeat::Same);
            }
            Ok(team.repair(repair::Repair {
                to,
                yes: self.yes,
                actor: context.doer(),
            })?)
        })?;
        let again = context.command(&format!(
            "doctor repair {} --to {} --yes",
            quoted(&self.team),
            self.to.unwrap_or_default()
        ));
        context.end(Exit::Done, &answer, |answer, view| {
            doctor::repaired(answer, &again, view)
        })
    }
}

fn unsaid() -> CommandError {
    let message = "doctor repair needs --to SEQ (the last event to keep) or --accept-rollback (accept a log that was restored from an older state)";
    CommandError::usage(message)
        .or_hint("to see what would be removed, run doctor repair with --to SEQ and without --yes")
}
