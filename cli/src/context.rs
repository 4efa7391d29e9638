//! What every command works with: the data root, who acts, where answers go. The one reader of the environment
//! besides [`crate::render::style`].

use crate::args::Global;
use crate::exit::{CommandError, Exit, Outcome};
use crate::output::Output;
use crate::render::View;
use crate::render::escape::{visible, visible_json};
use crate::root;
use serde::Serialize;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use teamlog_team::engine::{Clock, SystemClock};
use teamlog_team::{Root, RootOptions, Team};

/// The surroundings of one command.
#[derive(Debug)]
pub struct Context {
    /// Standard output.
    pub out: Output,
    data_root: PathBuf,
    actor: Option<String>,
    actor_flag: Option<String>,
    options: RootOptions,
    /// The team concerned, for hints.
    team: Option<String>,
}

impl Context {
    /// From the global flags and the environment.
    ///
    /// # Errors
    /// There is no working directory, or the agent's name in the environment is not UTF-8.
    pub fn new(global: &Global) -> Result<Context, CommandError> {
        let variable = std::env::var_os("TEAMLOG_DATA_ROOT");
        let data_root = root::find(global.data_root.as_deref(), variable, std::env::current_dir)
            .map_err(|error| CommandError::io("find", "the working directory", &error))?;
        let mut options = RootOptions::default();
        if let Some(timeout) = global.lock_timeout {
            options.lock_deadline = timeout;
        }
        Ok(Context {
            out: Output::stdout(global.json),
            data_root,
            actor: actor(global)?,
            actor_flag: global.actor.clone(),
            options,
            team: None,
        })
    }

    /// The directory that holds `teams/`.
    pub fn data_root(&self) -> &Path {
        &self.data_root
    }

    /// Who acts, if said by `--actor` or the environment.
    pub fn actor(&self) -> Option<String> {
        self.actor.clone()
    }

    /// The `--actor` of this command line, the environment not asked: `replay` filters by it.
    pub fn actor_flag(&self) -> Option<String> {
        self.actor_flag.clone()
    }

    /// The agent that a flag names, else who acts.
    ///
    /// # Errors
    /// Usage, where neither is known.
    pub fn agent(&self, flag: &str, named: Option<String>) -> Result<String, CommandError> {
        named.or_else(|| self.actor()).ok_or_else(|| {
            let message = format!(
                "{flag} is required: there is neither --actor nor TEAMLOG_AGENT to stand in for it"
            );
            CommandError::new(Exit::Usage, "usage", message)
                .or_hint(|| "export TEAMLOG_AGENT=NAME".to_owned())
        })
    }

    /// The data root, opened for something that concerns that team.
    ///
    /// # Errors
    /// I/O.
    pub fn root(&mut self, team: &str) -> Result<Root, CommandError> {
        self.team = Some(team.to_owned());
        Ok(Root::open(&self.data_root, self.options.clone())?)
    }

    /// A team of it, opened.
    ///
    /// # Errors
    /// There is no such team, or it cannot be opened.
    pub fn team(&mut self, name: &str) -> Result<Team, CommandError> {
        self.root(name)?.team(name).map_err(|failure| {
            let error = CommandError::from(failure);
            if error.code() != "team_not_found" {
                return error;
            }
            error.or_hint(|| {
                format!(
                    "teamlog init {name} (the data root is {})",
                    self.data_root.display()
                )
            })
        })
    }

    /// The error with what to try next on the team concerned.
    pub fn advise(&self, error: CommandError) -> CommandError {
        match &self.team {
            Some(team) => error.for_team(team),
            None => error,
        }
    }

    /// How to show things to people, now.
    pub fn view(&self) -> View {
        View {
            paint: self.out.paint(),
            now: SystemClock.now(),
        }
    }

    /// Prints an answer, as JSON or for people.
    ///
    /// # Errors
    /// Standard output failed.
    pub fn answer<A: Serialize>(
        &mut self,
        answer: &A,
        human: impl FnOnce(&A, &View) -> Vec<String>,
    ) -> Result<(), CommandError> {
        if self.out.is_json() {
            self.out.json(answer)
        } else {
            let lines = human(answer, &self.view());
            self.out.lines(&lines)
        }
    }

    /// The end of a command on a team: the answer goes out before the maintenance that nobody waits for.
    ///
    /// # Errors
    /// Standard output failed.
    pub fn done(&mut self, mut team: Team, exit: Exit) -> Outcome {
        self.out.flush()?;
        for line in team.recovered() {
            self.note(line);
        }
        if let Err(failure) = team.finish() {
            self.note(&format!(
                "the answer stands, but maintenance behind it failed: {failure}"
            ));
        }
        Ok(exit)
    }

    /// Says something beside the answer, on standard error.
    pub fn note(&self, text: &str) {
        #[derive(Serialize)]
        struct Note<'a> {
            note: &'a str,
        }
        let stderr = io::stderr();
        let line = if self.out.is_json() {
            let line = serde_json::to_string(&Note { note: text }).unwrap_or_default();
            if stderr.is_terminal() {
                visible_json(&line).into_owned()
            } else {
                line
            }
        } else {
            format!("note: {}", visible(text))
        };
        // Nobody is left to tell when standard error is gone.
        let _ = writeln!(stderr.lock(), "{line}");
    }
}

fn actor(global: &Global) -> Result<Option<String>, CommandError> {
    if global.actor.is_some() {
        return Ok(global.actor.clone());
    }
    match std::env::var_os("TEAMLOG_AGENT").filter(|value| !value.is_empty()) {
        None => Ok(None),
        Some(value) => value.into_string().map(Some).map_err(|value| {
            CommandError::invalid(
                "TEAMLOG_AGENT",
                format!("TEAMLOG_AGENT must be UTF-8, but is {value:?}"),
            )
        }),
    }
}
