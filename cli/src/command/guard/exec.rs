//! `guard exec`: runs a command under Landlock, so that the command can write only paths that its agent may write.

use super::{WriterArgs, absolute, denied, init_stage, real};
use crate::command::prelude::*;
use crate::fence::fenced::{NotStarted, Sandbox};
use crate::fence::grounds::WritablePaths;
use crate::fence::{VARIABLE, rules};
use crate::hint::Cause;
use crate::render::paths::STALE;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use teamlog_server::lock;
use teamlog_team::Team;
use teamlog_team::engine::{Clock, SystemClock};
use teamlog_team::handle::root::TEAMS_DIR;
use teamlog_team::projections::task::HeldResources;
use teamlog_team::resource::pattern::Pattern;

/// Warning for kernels that cannot restrict signals.
const SIGNALS_PASS: &str = "this kernel lets the command signal guard exec (Landlock version 6, Linux 6.12, does not): a \
    command that kills it writes on when its lease has ended";

#[derive(Debug, clap::Args)]
#[command(
    about = "Run a command that can write only what its agent may write; the kernel sees to it",
    long_about = "Run a command that can write only what its agent may write, enforced by the kernel \
        (Landlock)\n\nThe command can write the paths that the agent holds, and --scratch. The rest of the \
        repository and the data root are read-only; other paths are not restricted (docs/guard.md lists the limits). \
        Calls of teamlog inside record through the daemon (teamlog serve). If a lease ends, the command gets \
        SIGTERM, and SIGKILL 5 s later; so do processes that it leaves running. If guard exec is killed, they are \
        killed too. Exit code: the command's; 128 plus the number of the signal that ended it; 126 or 127 if it \
        cannot be started; 78 if the kernel has no Landlock.",
    after_help = "\
Examples:
  teamlog guard exec demo --agent dev --root . -- git diff
  teamlog guard exec --agent dev --root . --scratch /tmp -- sh -c 'ls > /dev/null'"
)]
pub struct Exec {
    /// The team [default: $TEAMLOG_TEAM, else the only team that is not closed]
    team: Option<String>,
    #[command(flatten)]
    who: WriterArgs,
    /// A directory that may be written without a lease, even inside the repository; repeatable
    #[arg(long, value_name = "DIR")]
    scratch: Vec<PathBuf>,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl Exec {
    pub fn run(self, context: &mut Context) -> Outcome {
        let agent = self.who.agent(context)?;
        let name = context.team_named(self.team.clone())?;
        let mut team = context.team(&name)?;
        if team.is_stale()? {
            return Err(denied(STALE));
        }
        let held = team.held_by(&agent)?;
        let grounds = self.grounds(context, &mut team, &held)?;
        warn(context, (&agent, &name), &held, &grounds);
        let (program, words) = self
            .command
            .split_first()
            .ok_or_else(|| CommandError::usage("COMMAND is required after --"))?;
        let mut stage = init_stage::command(program, words, context.out.is_json());
        stage.env(VARIABLE, &name);
        let writable = grounds.writable(rules::listed);
        let (fenced, keeps_signals) = Sandbox::start(stage, || rules::restrict(&writable))
            .map_err(|error| not_started(program, error))?;
        if !keeps_signals {
            context.note(SIGNALS_PASS);
        }
        let mut leases = Leases { team, agent, held };
        let ended = fenced.keep(|| match leases.ended() {
            Some(task) => {
                let after = "the command is told to end, and killed after 5 s";
                context.note(&format!("the lease on task {task} ended: {after}"));
                true
            }
            None => false,
        });
        let code = ended.map_err(|error| CommandError::io("wait for", "the command", &error))?;
        Ok(Exit::Of(code))
    }

    fn grounds(
        &self,
        context: &Context,
        team: &mut Team,
        held: &[HeldResources],
    ) -> Result<WritablePaths, CommandError> {
        let root = self.who.root(context, || Ok(team.resources_root()?))?;
        if root.is_empty() {
            let message = "--root is required, because the team has no setting resources.root";
            return Err(
                CommandError::usage(message).beside(context.hint(&Cause::HelpOf("config set")))
            );
        }
        let repository = directory("root", Path::new(&root))?;
        let data_root = directory("data_root", context.data_root()?)?;
        let scratch = self.scratch.iter().map(|dir| {
            let dir = absolute(context, dir).map_or_else(|| dir.clone(), PathBuf::from);
            let dir = directory("scratch", &dir)?;
            if dir != repository && dir != data_root {
                return Ok(dir);
            }
            let rule = "scratch must not be all of the repository or the data root";
            let message = format!("{rule}, but is {}", dir.display());
            Err(CommandError::invalid("scratch", message))
        });
        let scratch = scratch.collect::<Result<_, CommandError>>()?;
        let leased = held.iter().flat_map(|held| &held.resources);
        Ok(WritablePaths {
            own: [TEAMS_DIR, lock::DIR].map(|own| data_root.join(own)).into(),
            leased: leased
                .filter_map(|text| Pattern::parse(text).ok())
                .collect(),
            repository,
            data_root,
            scratch,
        })
    }
}

/// Leases that the agent held at the start of the command.
struct Leases {
    team: Team,
    agent: String,
    held: Vec<HeldResources>,
}

impl Leases {
    /// Returns the task whose lease ended or whose paths changed. If the log cannot be read, uses the last known end of
    /// each lease.
    fn ended(&mut self) -> Option<&str> {
        if let Ok(now) = self.team.held_by(&self.agent) {
            for held in &mut self.held {
                let still = now.iter().find(|still| still.task_id == held.task_id);
                match still.filter(|still| still.resources == held.resources) {
                    Some(still) => held.leased_until = still.leased_until,
                    None => return Some(&held.task_id),
                }
            }
            return None;
        }
        let now = SystemClock.now();
        let over = self.held.iter().find(|held| held.leased_until <= now);
        over.map(|held| held.task_id.as_str())
    }
}

/// Prints a note if the agent holds no path, and a note for each held path that does not exist.
fn warn(
    context: &Context,
    (agent, team): (&str, &str),
    held: &[HeldResources],
    grounds: &WritablePaths,
) {
    if held.is_empty() {
        let why = format!("{agent} holds no path in team {team}");
        context.note(&format!("{why}: the whole repository is read-only"));
    }
    for missing in grounds.missing(Path::exists) {
        let why = "is not there, and cannot be made inside: make it first";
        context.note(&format!("{missing} is held, but {why}"));
    }
}

fn directory(field: &str, dir: &Path) -> Result<PathBuf, CommandError> {
    let shown = dir.display().to_string();
    let dir = PathBuf::from(real(&shown));
    match dir.is_absolute() && dir.is_dir() {
        true => Ok(dir),
        false => {
            let message = format!("{field} must be an existing directory, but is {shown}");
            Err(CommandError::invalid(field, message))
        }
    }
}

pub(super) fn not_started(program: &OsStr, error: NotStarted) -> CommandError {
    let shown = program.to_string_lossy();
    match error {
        NotStarted::Unfenced(why) => {
            let message = format!("cannot restrict the command to its paths: {why}");
            let hint = "install the guard hooks instead; they need no Landlock";
            CommandError::new(Exit::Unfenced, "landlock_unavailable", message).or_hint(hint)
        }
        NotStarted::Failed(error) => {
            CommandError::io("start", &shown, &error).ending(cause(&error))
        }
    }
}

/// Maps a failure to start the command to the exit code that shells use.
fn cause(error: &io::Error) -> Exit {
    match error.kind() {
        ErrorKind::NotFound => Exit::Of(127),
        ErrorKind::PermissionDenied => Exit::Of(126),
        _ => Exit::Io,
    }
}
