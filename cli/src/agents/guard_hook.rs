//! Builds the command line of the guard's hook, and parses installed hooks.

use super::settings::{self, Hook};
use super::{Agent, extension, file, program, root_words, text, typed};
use crate::context::Context;
use crate::exit::CommandError;
use clap::ValueEnum;
use std::path::{Path, PathBuf};
use teamlog_team::shell;

/// Suffix of the command line. If the guard is missing or fails, the hook exits with 2 and so denies the call, because
/// agents treat every other exit code as permission.
const ELSE: &str = " || exit 2";

/// Answer to a call if the guard cannot tell which files the call writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum OnUnknown {
    /// Let a person decide
    Ask,
    /// Deny the call
    Deny,
    /// Allow the call
    Allow,
    /// Allow the call while no other agent holds a path, else let a person decide
    AllowWhenFree,
}

/// Options of an installed guard hook.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GuardHook {
    /// The team. If `None`, the guard finds the team at each call.
    pub team: Option<String>,
    /// The agent that writes. If `None`, the guard reads the environment.
    pub agent: Option<String>,
    /// The repository. If `None`, the team's setting `resources.root` applies.
    pub root: Option<String>,
    /// Directories that may be written without a lease.
    pub scratch: Vec<String>,
    /// Answer to a call if the guard cannot tell which files the call writes. If `None`, the team's setting `guard.unknown`
    /// applies.
    pub on_unknown: Option<OnUnknown>,
    /// The coding agent that runs the hook. Hooks of earlier versions do not name it.
    pub client: Option<Agent>,
}

// Options of the guard. Not a doc comment, because clap would print it in the help of each command.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct GuardOptions {
    /// The repository [default: the team's setting `resources.root`]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// A directory that may be written without a lease; may be given several times
    #[arg(long, value_name = "DIR")]
    scratch: Vec<PathBuf>,
    /// Answer if the guard cannot tell which files a call writes [default: the team's setting `guard.unknown`]
    #[arg(long, value_enum, value_name = "ANSWER")]
    on_unknown: Option<OnUnknown>,
}

impl GuardOptions {
    /// Returns the hook with the options of the command line. Missing options come from the installed hook `there`.
    pub fn hook(
        &self,
        context: &Context,
        whose: Agent,
        (team, agent): (Option<String>, Option<String>),
        there: GuardHook,
    ) -> Result<GuardHook, CommandError> {
        let path = |path: &PathBuf| text(context, path);
        let typed: Result<Vec<String>, CommandError> = self.scratch.iter().map(path).collect();
        let scratch = match typed? {
            typed if typed.is_empty() => there.scratch,
            typed => typed,
        };
        // Earlier versions wrote their default value into every hook, so a default value in an installed hook is ignored.
        let old_default = match whose {
            Agent::Codex => OnUnknown::Deny,
            Agent::Claude | Agent::Pi => OnUnknown::Ask,
        };
        let chosen = |answer: &OnUnknown| there.client.is_some() || *answer != old_default;
        let on_unknown = self.on_unknown.or(there.on_unknown.filter(chosen));
        Ok(GuardHook {
            team: team.or(there.team),
            agent: agent.or(there.agent),
            root: self.root.as_ref().map(path).transpose()?.or(there.root),
            scratch,
            on_unknown,
            client: Some(whose),
        })
    }
}

impl GuardHook {
    /// Returns the command line of the guard. All paths are absolute, because the working directory of the agent is unknown.
    pub fn words(&self, context: &Context) -> Result<Vec<String>, CommandError> {
        let mut words = vec![program(context)?, "guard".to_owned()];
        let agent = self.agent.iter();
        let agent = agent.flat_map(|agent| ["--agent".to_owned(), agent.clone()]);
        let client = self.client.iter();
        let client = client.flat_map(|client| ["--client".to_owned(), typed(client)]);
        let root = root_words(context)?;
        // The first option marks the command line as written by teamlog.
        match root.is_empty() {
            true => words.extend(client.chain(agent)),
            false => words.extend(root.into_iter().chain(agent).chain(client)),
        }
        words.extend(self.options());
        if let Some(team) = &self.team {
            words.extend(["--".to_owned(), team.clone()]);
        }
        Ok(words)
    }

    /// Returns all options except agent and team, as words of a command line.
    pub fn options(&self) -> Vec<String> {
        let root = self.root.iter().map(|root| ("--root", root.clone()));
        let scratch = self.scratch.iter().map(|dir| ("--scratch", dir.clone()));
        let answer = self.on_unknown.iter();
        let answer = answer.map(|answer| ("--on-unknown", typed(answer)));
        let options = root.chain(scratch).chain(answer);
        options
            .flat_map(|(name, value)| [name.to_owned(), value])
            .collect()
    }

    /// Returns the guard's hook in an agent's file.
    pub fn installed(
        whose: Agent,
        file: &Path,
        text: Option<&str>,
    ) -> Result<Option<GuardHook>, CommandError> {
        if whose == Agent::Pi {
            let words = text.and_then(extension::words);
            return Ok(words.and_then(|words| GuardHook::of_words(&words)));
        }
        let settings = file::json(file, text)?;
        let installed = settings::installed(&settings, Hook::Guard);
        let mut read = installed.iter().map(|one| GuardHook::read(&one.command));
        Ok(read.find_map(|hook| hook))
    }

    /// Parses an installed command line. Returns `None` if teamlog did not write the command line.
    pub fn read(line: &str) -> Option<GuardHook> {
        GuardHook::of_words(&shell::words(line.strip_suffix(ELSE)?)?)
    }

    /// Returns true if an installed command line asks the daemon on another machine.
    pub fn asks_remote(run: &[String]) -> bool {
        !run.iter().any(|word| word.contains("--data-root"))
    }

    /// Parses an installed command line that is already split into words.
    pub fn of_words(words: &[String]) -> Option<GuardHook> {
        let mut words = words.iter().skip(1);
        if words.next()? != "guard" {
            return None;
        }
        let mut hook = GuardHook::default();
        while let Some(word) = words.next() {
            let value = words.next()?.clone();
            match word.as_str() {
                "--data-root" => {}
                "--agent" => hook.agent = Some(value),
                "--root" => hook.root = Some(value),
                "--scratch" => hook.scratch.push(value),
                "--client" => hook.client = Some(Agent::from_str(&value, false).ok()?),
                "--on-unknown" => hook.on_unknown = Some(OnUnknown::from_str(&value, false).ok()?),
                "--" => hook.team = Some(value),
                _ => return None,
            }
        }
        Some(hook)
    }

    /// Refuses to replace the hook of another agent.
    pub fn check_agent(&self, there: &GuardHook, file: &Path) -> Result<(), CommandError> {
        match (&there.agent, &self.agent) {
            (Some(there), Some(agent)) if there != agent => {
                let message = format!(
                    "{} has the guard hook of {there}, and a hook of {agent} would replace it; one file serves all agents \
                     of a directory",
                    file.display()
                );
                Err(CommandError::invalid("agent", message).detailing("installed_agent", there))
            }
            _ => Ok(()),
        }
    }
}

/// Returns the shell command of the hook. Every failure denies the call, including a missing program.
pub fn line(words: &[String]) -> String {
    format!("{}{ELSE}", joined(words))
}

/// Quotes the words for a shell and joins them.
pub fn joined(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| shell::quoted(word)).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_installed_is_read_again() {
        let line = "'/a b/teamlog' guard --data-root /d --agent dev --scratch /tmp --scratch '/x y' --on-unknown ask -- demo || exit 2";
        let hook = GuardHook::read(line).unwrap();
        assert_eq!(hook.agent.as_deref(), Some("dev"));
        assert_eq!(hook.scratch, ["/tmp", "/x y"]);
        assert_eq!(hook.team.as_deref(), Some("demo"));
        assert_eq!((hook.on_unknown, hook.client), (Some(OnUnknown::Ask), None));
        let hook =
            GuardHook::read("t guard --data-root /d --client codex -- demo || exit 2").unwrap();
        assert_eq!(hook.client, Some(Agent::Codex));
        for other in [
            "teamlog guard demo",
            "x guard --data-root /d --new 1 || exit 2",
            "",
        ] {
            assert_eq!(GuardHook::read(other), None, "{other}");
        }
    }

    #[test]
    fn one_agent_does_not_take_the_place_of_another() {
        let of = |agent: Option<&str>| GuardHook {
            agent: agent.map(str::to_owned),
            ..GuardHook::default()
        };
        let file = Path::new("/f");
        let error = of(Some("b")).check_agent(&of(Some("a")), file).unwrap_err();
        assert!(error.message().contains("the guard hook of a"), "{error:?}");
        for (new, there) in [(None, Some("a")), (Some("a"), Some("a")), (Some("a"), None)] {
            assert!(of(new).check_agent(&of(there), file).is_ok());
        }
    }
}
