//! `hooks install`: installs only the hook of the guard.
//!
//! Invariants: nothing is written without `--write`; other content of the file stays; installing the hook of one agent
//! does not replace the hook of another agent; the hook denies a call unless the guard explicitly allows it.

use super::Place;
use crate::agents::guard_hook::{self, GuardHook, GuardOptions};
use crate::agents::json_text::JsonText;
use crate::agents::settings::{self, Hook};
use crate::agents::{Agent, extension, file, text, top, typed};
use crate::command::prelude::*;
use crate::hint::Cause;
use crate::render::escape::visible_lines;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog hooks install claude demo --agent dev
  teamlog hooks install claude demo --agent dev --scratch /tmp --write
  teamlog hooks install pi demo --user --dry-run --json")]
pub struct Install {
    /// The coding agent
    #[arg(value_enum, value_name = "WHOSE")]
    whose: Agent,
    /// The team [default: the guard finds it at each call]
    team: Option<String>,
    /// The team, in place of the second argument
    #[arg(
        long = "team",
        short = 't',
        value_name = "TEAM",
        conflicts_with = "team"
    )]
    named: Option<String>,
    /// The agent that writes [default: the guard finds it at each call]
    #[arg(long)]
    agent: Option<String>,
    #[command(flatten)]
    guard: GuardOptions,
    #[command(flatten)]
    place: Place,
    /// Write the file
    #[arg(long, conflicts_with = "dry_run")]
    write: bool,
    /// Only show the change (the default)
    #[arg(long)]
    dry_run: bool,
}

/// Status of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    /// The file is up to date.
    Unchanged,
    /// The file would be written with `--write`.
    WouldWrite,
    /// The file was written.
    Written,
}

/// `{status, whose, file, command, content, trust?, notes?}`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HooksAnswer {
    /// Status of the file.
    status: Status,
    /// The coding agent.
    whose: Agent,
    /// Path of the file.
    file: String,
    /// Command that the agent runs before a tool call.
    command: String,
    /// New content of the file.
    content: String,
    /// Step that the user must take before the agent runs the hook, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    trust: Option<&'static str>,
    /// Further steps that the user must take.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

impl Install {
    pub fn run(mut self, context: &mut Context) -> Outcome {
        self.team = self.team.or(self.named.take());
        self.check(context)?;
        let dir = self.place.dir.as_deref();
        let file = self.whose.hooks_file(context, dir, self.place.user)?;
        let old = file::read(&file)?;
        let named = (self.team.clone(), self.agent.clone());
        let mut hook = self
            .guard
            .hook(context, self.whose, named, GuardHook::default())?;
        // The setting `resources.root` names a directory of the daemon's machine.
        if context.is_remote() && hook.root.is_none() && !self.place.user {
            hook.root = Some(text(context, &top(context, dir, false)?)?);
        }
        if let Some(there) = GuardHook::installed(self.whose, &file, old.as_deref())? {
            hook.check_agent(&there, &file)
                .map_err(|error| self.advise(context, error, &there))?;
        }
        let words = hook.words(context)?;
        let command = guard_hook::line(&words);
        let content = self
            .content(old.as_deref(), &words, &command)
            .map_err(|why| file::unusable(&file, &why))?;
        let unchanged = old.as_deref() == Some(&*content);
        let status = match (unchanged, self.write) {
            (true, _) => Status::Unchanged,
            (false, false) => Status::WouldWrite,
            (false, true) => {
                file::replace(&file, &content)?;
                Status::Written
            }
        };
        let answer = HooksAnswer {
            status,
            whose: self.whose,
            file: file.display().to_string(),
            command,
            content,
            trust: super::trust(self.whose).filter(|_| status != Status::Unchanged),
            notes: super::environment(context),
        };
        context.end(Exit::Done, &answer, shown)
    }

    fn content(&self, old: Option<&str>, words: &[String], line: &str) -> Result<String, String> {
        if self.whose == Agent::Pi {
            return Ok(extension::text(words));
        }
        let mut settings = JsonText::parse(old)?;
        let group = Hook::Guard.group(self.whose, line);
        settings::put(&mut settings, Hook::Guard, &group)?;
        Ok(settings.text().to_owned())
    }

    /// Adds a hint to the error: one hook serves all agents of a directory if each agent names itself.
    fn advise(&self, context: &Context, error: CommandError, there: &GuardHook) -> CommandError {
        let mut words = ["hooks", "install"].map(str::to_owned).to_vec();
        words.push(typed(&self.whose));
        words.extend(self.team.clone());
        words.extend(there.options());
        if let Some(dir) = &self.place.dir {
            words.extend(["--dir".to_owned(), dir.display().to_string()]);
        }
        if self.place.user {
            words.push("--user".to_owned());
        }
        words.push("--write".to_owned());
        error.beside(context.hint(&Cause::ManyAgents {
            agent: self.agent.as_deref(),
            commands: vec![guard_hook::joined(&words)],
        }))
    }

    /// Refuses a hook that names neither a team nor an agent, because that hook would deny every call.
    fn check(&self, context: &mut Context) -> Result<(), CommandError> {
        match &self.team {
            Some(team) => super::rules(context, team, self.agent.as_deref()).map(drop),
            None => Ok(()),
        }
    }
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
    lines.extend(answer.trust.map(str::to_owned));
    lines.extend(answer.notes.iter().map(|note| visible(note).into_owned()));
    lines
}
