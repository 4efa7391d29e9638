//! `backup`: copies the log to a directory. A later run adds the new events to the copy.

use crate::command::prelude::*;
use crate::render::moving;
use std::ffi::OsString;

#[derive(Debug, clap::Args)]
#[command(
    override_usage = "teamlog backup [OPTIONS] [TEAM] <DIR>\n       teamlog backup [OPTIONS] --all <DIR>",
    long_about = "Back up a team, or all of them, into a directory outside the data root\n\nDIR/TEAM/ then holds the log \
        up to this moment; writers continue meanwhile. A second run copies new data only. If a run is interrupted, the previous backup stays. `verify TEAM --backup DIR` checks a backup, `restore DIR TEAM` restores the team.",
    after_help = "\
Examples:
  teamlog backup demo ../backups
  teamlog backup ../backups                                 the only open team
  teamlog backup --all ../backups
  teamlog backup demo ../nightly && teamlog verify demo --backup ../nightly"
)]
pub struct Args {
    /// The team [default: --team, $TEAMLOG_TEAM, else the only open one], and the directory, which is created if it is missing
    #[arg(value_names = ["TEAM", "DIR"], num_args = 1..=2, required = true)]
    what: Vec<OsString>,
    /// Every team of the data root
    #[arg(long)]
    all: bool,
    /// The team, in place of the first argument
    #[arg(
        long = "team",
        short = 't',
        value_name = "TEAM",
        conflicts_with = "all"
    )]
    named: Option<String>,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        match (self.all, self.what.as_slice()) {
            (true, [dir]) => all(context, Path::new(dir)),
            (false, [team, dir]) if self.named.is_none() => {
                one(context, &team.to_string_lossy(), Path::new(dir))
            }
            // A word that names a team is no directory: the directory is missing.
            (false, [dir]) if self.named.is_some() || !context.has_team(dir) => {
                let team = context.team_named(self.named)?;
                one(context, &team, Path::new(dir))
            }
            (false, [_, _]) => Err(usage("the team is given twice, by --team and as TEAM")),
            (true, _) => Err(usage("with --all there is only the directory to name")),
            (false, _) => Err(usage("DIR is required: the directory of the backup")),
        }
    }
}

fn usage(message: &str) -> CommandError {
    CommandError::usage(message).or_hint("give TEAM and DIR, or --all and DIR")
}

fn one(context: &mut Context, team: &str, dir: &Path) -> Outcome {
    let team = context.team(team)?;
    let backup_dir = context.new_backup_dir(dir)?;
    let answer = team.backup(&backup_dir)?;
    context.end(Exit::Done, &answer, moving::backed_up)
}

fn all(context: &mut Context, dir: &Path) -> Outcome {
    let root = context.data()?;
    let backup_dir = context.new_backup_dir(dir)?;
    let answer = root.backup_all(&backup_dir)?;
    let exit = Exit::Refused.unless(answer.status != "partial");
    context.end(exit, &answer, moving::all_backed_up)
}
