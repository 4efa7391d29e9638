//! `hooks install`: what makes a coding agent ask `teamlog guard` before it writes.
//!
//! Invariants: nothing is written without `--write`; what else stands in a file stays there; the file is whole at every
//! moment; and the hook denies whatever way the guard ends, but by saying yes.

mod extension;
mod settings;

use super::guard::OnUnknown;
use crate::context::Context;
use crate::exit::{CommandError, Exit, Outcome};
use crate::render::View;
use crate::render::escape::{visible, visible_lines};
use clap::ValueEnum;
use schemars::JsonSchema;
use serde::Serialize;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use teamlog_team::shell::quoted;

/// Far more than the settings of an agent have.
const FILE_BYTES_MAX: u64 = 1 << 20;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    Install(Install),
}

/// Make a coding agent ask the guard before it writes; without --write only show what would be done
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog hooks install claude demo --agent dev
  teamlog hooks install claude demo --agent dev --scratch /tmp --write
  teamlog hooks install pi demo --user --dry-run --json")]
struct Install {
    /// Whose configuration
    #[arg(value_enum, value_name = "WHOSE")]
    whose: Whose,
    /// The team [default: what the guard finds when it is asked]
    team: Option<String>,
    /// Who is to write [default: what the guard finds when it is asked]
    #[arg(long)]
    agent: Option<String>,
    /// The repository [default: the team's setting `resources.root`]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// A directory that may be written without a lease; may stand several times
    #[arg(long, value_name = "DIR")]
    scratch: Vec<PathBuf>,
    /// What the guard answers where nobody can tell [default: ask; deny for codex, which cannot ask]
    #[arg(long, value_enum, value_name = "ANSWER")]
    on_unknown: Option<OnUnknown>,
    /// The project whose configuration it is [default: the working directory]
    #[arg(long, value_name = "DIR", conflicts_with = "user")]
    dir: Option<PathBuf>,
    /// The user's own configuration, for all projects
    #[arg(long)]
    user: bool,
    /// Write it
    #[arg(long, conflicts_with = "dry_run")]
    write: bool,
    /// Only show what would be written, which is the default
    #[arg(long)]
    dry_run: bool,
}

/// A coding agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Whose {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// pi
    Pi,
}

/// What becomes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    /// It is as it should be already.
    Unchanged,
    /// It would be written.
    WouldWrite,
    /// It was written.
    Written,
}

/// `{status, whose, file, command, content}`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HooksAnswer {
    /// What became of the file.
    status: Status,
    /// Whose configuration it is.
    whose: Whose,
    /// The file.
    file: String,
    /// What the agent runs before a tool call.
    command: String,
    /// All that the file holds then.
    content: String,
}

impl Args {
    /// Runs it.
    pub fn run(self, context: &mut Context) -> Outcome {
        let Action::Install(install) = self.action;
        install.run(context)
    }
}

impl Install {
    fn run(self, context: &mut Context) -> Outcome {
        self.check(context)?;
        let words = self.words(context)?;
        let file = self.file(context)?;
        let old = read(&file)?;
        let content = match self.whose {
            Whose::Claude | Whose::Codex => {
                settings::with_hook(old.as_deref(), self.whose, &shell_line(&words))
                    .map_err(|why| unusable(&file, &why))?
            }
            Whose::Pi => extension::text(&words),
        };
        let unchanged = old.as_deref() == Some(&*content);
        let status = match (unchanged, self.write) {
            (true, _) => Status::Unchanged,
            (false, false) => Status::WouldWrite,
            (false, true) => {
                replace(&file, &content)?;
                Status::Written
            }
        };
        let answer = HooksAnswer {
            status,
            whose: self.whose,
            file: file.display().to_string(),
            command: shell_line(&words),
            content,
        };
        context.answer(&answer, shown)?;
        Ok(Exit::Done)
    }

    /// The guard as the agent will start it, with absolute paths, since nobody knows where.
    fn words(&self, context: &Context) -> Result<Vec<String>, CommandError> {
        let program = std::env::current_exe()
            .map_err(|error| CommandError::io("find", "this program", &error))?;
        let mut words = vec![
            text(context, &program)?,
            "guard".to_owned(),
            "--data-root".to_owned(),
            text(context, context.data_root())?,
        ];
        let mut option = |name: &str, value: String| {
            words.push(name.to_owned());
            words.push(value);
        };
        if let Some(agent) = &self.agent {
            option("--agent", agent.clone());
        }
        if let Some(root) = &self.root {
            option("--root", text(context, root)?);
        }
        for dir in &self.scratch {
            option("--scratch", text(context, dir)?);
        }
        let on_unknown = self.on_unknown.unwrap_or(match self.whose {
            Whose::Codex => OnUnknown::Deny,
            Whose::Claude | Whose::Pi => OnUnknown::Ask,
        });
        option("--on-unknown", on_unknown.name().to_owned());
        if let Some(team) = &self.team {
            words.extend(["--".to_owned(), team.clone()]);
        }
        Ok(words)
    }

    /// A guard that knows neither team nor agent denies everything.
    fn check(&self, context: &mut Context) -> Result<(), CommandError> {
        let Some(team) = &self.team else {
            return Ok(());
        };
        let mut team = context.team(team)?;
        if let Some(agent) = &self.agent {
            team.knows("agent", agent)?;
        }
        Ok(())
    }

    /// The file that the agent reads its configuration from.
    fn file(&self, context: &Context) -> Result<PathBuf, CommandError> {
        let name = match (self.whose, self.user) {
            // Paths of this machine stand in it, so that it is not the one that a project shares.
            (Whose::Claude, false) => ".claude/settings.local.json",
            (Whose::Claude, true) => ".claude/settings.json",
            (Whose::Codex, _) => ".codex/hooks.json",
            (Whose::Pi, false) => ".pi/extensions/teamlog-guard.ts",
            (Whose::Pi, true) => ".pi/agent/extensions/teamlog-guard.ts",
        };
        let file = self.top(context)?.join(name);
        // Through a link to where the file is, which then is what gets replaced.
        Ok(fs::canonicalize(&file).unwrap_or(file))
    }

    fn top(&self, context: &Context) -> Result<PathBuf, CommandError> {
        let home = || {
            let home = context.surroundings().var_set("HOME");
            home.map(PathBuf::from).ok_or_else(|| {
                CommandError::invalid("user", "HOME must say where the user's configuration is")
            })
        };
        let top = match (&self.dir, self.user) {
            (_, true) => home()?,
            (Some(dir), false) => dir.clone(),
            (None, false) => PathBuf::from("."),
        };
        let top = absolute(context, &top)?;
        match top.is_dir() {
            true => Ok(top),
            false => {
                let message = format!("dir must be a directory, but is {}", top.display());
                Err(CommandError::invalid("dir", message))
            }
        }
    }
}

/// Any end but a yes is a no, also that of a program which is not there any more.
fn shell_line(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    format!("{} || exit 2", words.join(" "))
}

fn absolute(context: &Context, path: &Path) -> Result<PathBuf, CommandError> {
    let here = context.surroundings().here();
    let here = here.map_err(|error| CommandError::io("find", "the working directory", &error))?;
    // Without what means nothing.
    Ok(here.join(path).components().collect())
}

fn text(context: &Context, path: &Path) -> Result<String, CommandError> {
    let path = absolute(context, path)?;
    path.into_os_string().into_string().map_err(|path| {
        let message = format!("paths must be text, but {} is not", path.display());
        CommandError::invalid("path", message)
    })
}

fn read(file: &Path) -> Result<Option<String>, CommandError> {
    let failed = |error| CommandError::io("read", &file.display().to_string(), &error);
    let size = match fs::metadata(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
        Ok(found) if !found.is_file() => return Err(unusable(file, "it is no file")),
        Ok(found) => found.len(),
    };
    match size > FILE_BYTES_MAX {
        true => Err(unusable(file, "it is too large")),
        false => fs::read_to_string(file).map(Some).map_err(failed),
    }
}

fn unusable(file: &Path, why: &str) -> CommandError {
    let message = format!("{} must hold settings, but {why}", file.display());
    CommandError::invalid("file", message)
}

/// Puts a whole file in the place of another, whose mode it takes over.
fn replace(file: &Path, content: &str) -> Result<(), CommandError> {
    let failed = |error: io::Error| CommandError::io("write", &file.display().to_string(), &error);
    let dir = file.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(dir).map_err(failed)?;
    let aside = dir.join(format!(".teamlog-{}.tmp", std::process::id()));
    let mode = fs::metadata(file).map(|found| found.permissions()).ok();
    let written = write_aside(&aside, content, mode).and_then(|()| fs::rename(&aside, file));
    if written.is_err() {
        // The error that led here is the one to be told.
        let _ = fs::remove_file(&aside);
    }
    written.map_err(failed)?;
    File::open(dir)
        .and_then(|dir| dir.sync_all())
        .map_err(failed)
}

fn write_aside(aside: &Path, content: &str, mode: Option<fs::Permissions>) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o644)
        .open(aside)?;
    file.write_all(content.as_bytes())?;
    if let Some(mode) = mode {
        file.set_permissions(mode)?;
    }
    file.sync_all()
}

fn shown(answer: &HooksAnswer, _: &View) -> Vec<String> {
    let file = visible(&answer.file);
    let head = match answer.status {
        Status::Unchanged => format!("{file} is as it should be"),
        Status::Written => format!("wrote {file}"),
        Status::WouldWrite => format!("would write {file}; with --write it is done"),
    };
    let mut lines = vec![head];
    if answer.status != Status::Unchanged {
        let content = visible_lines(&answer.content);
        lines.extend(
            content
                .lines()
                .map(|line| format!("  {line}").trim_end().to_owned()),
        );
    }
    lines
}
