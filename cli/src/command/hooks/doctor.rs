//! `hooks doctor`: runs the installed hook as the agent does, and checks that the hook denies a forbidden write.

use super::Place;
use crate::agents::guard_hook::GuardHook;
use crate::agents::settings::{self, Hook};
use crate::agents::{Agent, extension, file, guard_hook, top, typed};
use crate::command::child;
use crate::command::prelude::*;
use crate::forward::{REMOTE_VARIABLES, Remote};
use serde_json::json;
use std::io::{Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

/// Path that the probe tries to write. This path is outside of every repository.
pub const PROBE: &str = "/teamlog-hooks-doctor-probe";
/// Maximum run time that agents allow a hook.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// Maximum number of bytes read from the hook's output.
const ANSWER_BYTES_MAX: u64 = 64 * 1024;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Check that a coding agent's hook is installed and denies a forbidden write\n\nThe hook is run as \
        the agent runs it, with a call that would write outside of the repository. Nothing is written. Exit code 1 \
        if a check fails.",
    after_help = "\
Examples:
  teamlog hooks install claude demo --agent dev --write && teamlog hooks doctor claude"
)]
pub struct Doctor {
    /// The coding agent
    #[arg(value_enum, value_name = "WHOSE")]
    whose: Agent,
    #[command(flatten)]
    place: Place,
}

/// `{status, whose, file, checks}`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HooksDoctorAnswer {
    /// The worst status of the checks.
    status: Health,
    /// The coding agent.
    whose: Agent,
    /// Path of the file with the hook.
    file: String,
    /// Checks, in order.
    checks: Vec<Check>,
}

/// Status of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Health {
    /// The check passed.
    Ok,
    /// The check passed, with a remark.
    Warning,
    /// The check failed: the hook does not protect.
    Failed,
}

/// One check of the hook.
#[derive(Debug, Serialize, JsonSchema)]
struct Check {
    /// Name of the check: `installed`, `current`, `remote`, `probe` or `trusted`.
    name: &'static str,
    /// Status of the check.
    status: Health,
    /// Result of the check in words.
    message: String,
    /// The next step, if one is needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

struct InstalledHook {
    run: Vec<String>,
    /// True if `hooks install` of this version would write the same hook.
    current: bool,
}

impl Doctor {
    pub fn run(self, context: &mut Context) -> Outcome {
        let dir = self.place.dir.as_deref();
        let file = self.whose.hooks_file(context, dir, self.place.user)?;
        let install =
            Some(context.command(&format!("hooks install {} --write", typed(&self.whose))));
        let checks = match self.found(context, &file)? {
            None => {
                let message = format!("there is no hook of teamlog in {}", file.display());
                vec![Check::new("installed", Health::Failed, message, install)]
            }
            Some(found) => {
                let mut checks = vec![good(
                    "installed",
                    format!("the hook is in {}", file.display()),
                )];
                checks.push(match found.current {
                    true => good("current", "it is as this version installs it"),
                    false => {
                        let message = "this version would install it otherwise";
                        Check::new("current", Health::Warning, message, install.clone())
                    }
                });
                checks.extend(remote(&found.run, context, install));
                checks.push(probe(&found.run, &top(context, dir, false)?, context));
                if self.whose == Agent::Codex {
                    checks.push(trusted(context, &file)?);
                }
                checks
            }
        };
        let worst = checks.iter().map(|check| check.status).max();
        let answer = HooksDoctorAnswer {
            status: worst.unwrap_or(Health::Ok),
            whose: self.whose,
            file: file.display().to_string(),
            checks,
        };
        let exit = Exit::Refused.unless(answer.status != Health::Failed);
        context.end(exit, &answer, shown)
    }

    fn found(&self, context: &Context, file: &Path) -> Result<Option<InstalledHook>, CommandError> {
        let Some(text) = file::read(file)? else {
            return Ok(None);
        };
        if self.whose == Agent::Pi {
            return Ok(extension::words(&text).map(|words| InstalledHook {
                current: text == extension::text(&words)
                    && own(context, GuardHook::of_words(&words), &words),
                run: words,
            }));
        }
        let settings = file::json(file, Some(&text))?;
        let installed = settings::installed(&settings, Hook::Guard);
        Ok(installed.first().map(|one| {
            let hook = GuardHook::read(&one.command);
            let words = hook.as_ref().and_then(|hook| hook.words(context).ok());
            let line = words.map(|words| guard_hook::line(&words));
            InstalledHook {
                current: installed.len() == 1
                    && one.group == Hook::Guard.group(self.whose, &one.command)
                    && line
                        .as_deref()
                        .is_none_or(|line| same_but_root(line, &one.command)),
                run: ["sh", "-c", &one.command].map(str::to_owned).to_vec(),
            }
        }))
    }
}

/// Returns true if the hook runs this program.
fn own(context: &Context, hook: Option<GuardHook>, words: &[String]) -> bool {
    let made = hook.and_then(|hook| hook.words(context).ok());
    made.is_some_and(|made| made.first() == words.first())
}

/// Returns true if two command lines differ at most in the data root.
fn same_but_root(made: &str, installed: &str) -> bool {
    let program = |line: &str| line.split(" guard --data-root ").next().map(str::to_owned);
    program(made) == program(installed)
}

impl Check {
    fn new(
        name: &'static str,
        status: Health,
        message: impl Into<String>,
        hint: Option<String>,
    ) -> Check {
        let message = message.into();
        Check {
            name,
            status,
            message,
            hint,
        }
    }
}

fn good(name: &'static str, message: impl Into<String>) -> Check {
    Check::new(name, Health::Ok, message, None)
}

/// Checks the environment of a hook that asks a daemon on another machine. Returns `None` if neither the hook nor the environment
/// has to do with such a daemon.
fn remote(run: &[String], context: &Context, install: Option<String>) -> Option<Check> {
    let failed = |message: String, hint| Check::new("remote", Health::Failed, message, hint);
    let [address, token, _] = REMOTE_VARIABLES;
    match (GuardHook::asks_remote(run), context.remote()) {
        (false, Ok(None)) => None,
        (false, _) => {
            let message = format!("the hook reads a data root, not the daemon of {address}");
            Some(Check::new("remote", Health::Warning, message, install))
        }
        (true, Ok(None)) => {
            let message = format!("the hook asks the daemon of {address}, which is not set here");
            let hint = format!("export {address}=https://HOST:PORT {token}=FILE");
            Some(failed(message, Some(hint)))
        }
        (true, Err(error)) => {
            let hint = error.hint().map(str::to_owned);
            Some(failed(error.message().to_owned(), hint))
        }
        (true, Ok(Some(remote))) => {
            let relative = Remote::relative_paths(context.env());
            if let Some(name) = relative.first() {
                let message =
                    format!("{name} is a relative path, which other directories do not have");
                return Some(failed(message, Some(format!("export {name}=/PATH"))));
            }
            let message = format!(
                "it asks the daemon at {} as {}",
                remote.address(),
                remote.agent()
            );
            Some(good("remote", message))
        }
    }
}

/// Runs the hook with a write that no team allows, and checks that the hook denies the write.
fn probe(run: &[String], dir: &Path, context: &Context) -> Check {
    let call = json!({
        "session_id": "teamlog-hooks-doctor",
        "hook_event_name": "PreToolUse",
        "tool_name": "Write",
        "tool_input": {"file_path": PROBE, "content": ""},
        "cwd": dir,
    });
    let failed = |message: String| Check::new("probe", Health::Failed, message, None);
    let Some((program, rest)) = run.split_first() else {
        return failed("the hook is empty".to_owned());
    };
    let mut command = Command::new(program);
    command.args(rest).current_dir(dir);
    if let Some(actor) = context.actor() {
        command.env("TEAMLOG_AGENT", actor);
    }
    let (status, said) = match asked(command, &call.to_string()) {
        Ok(Some(ended)) => ended,
        Ok(None) => {
            let most = LONGEST_WAIT.as_secs();
            return failed(format!("it gave no answer within {most} seconds"));
        }
        Err(error) => return failed(format!("it cannot be run: {error}")),
    };
    let first = said.lines().next().unwrap_or_default();
    match status.code() {
        Some(2) if said.contains(PROBE) => {
            good("probe", "it denied a write outside of the repository")
        }
        Some(2) if first.contains("TEAMLOG_AGENT") => Check {
            hint: Some("export TEAMLOG_AGENT=NAME".to_owned()),
            ..failed(format!(
                "it denies every write, since nobody says who acts: {first}"
            ))
        },
        Some(2) => failed(format!("it denies every write: {first}")),
        Some(0) => failed(format!("it let a write to {PROBE} through")),
        _ => failed(format!(
            "it ended with {status}, which agents take for a yes"
        )),
    }
}

/// Runs a program with `input` on standard input. Returns its exit status and output, or `None` at the time limit.
fn asked(mut command: Command, input: &str) -> std::io::Result<Option<(ExitStatus, String)>> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that exits early does not read its input.
        let _ = stdin.write_all(input.as_bytes());
    }
    let Some(status) = child::ended(&mut child, LONGEST_WAIT)? else {
        return Ok(None);
    };
    let mut said = Vec::new();
    if let Some(stderr) = child.stderr.take() {
        stderr.take(ANSWER_BYTES_MAX).read_to_end(&mut said)?;
    }
    Ok(Some((status, String::from_utf8_lossy(&said).into_owned())))
}

/// Checks if Codex trusts a hook of this file. Codex does not show which version of the hook it trusts.
fn trusted(context: &Context, hooks: &Path) -> Result<Check, CommandError> {
    let config = codex_home(context)?.join("config.toml");
    let text = file::read(&config)?.unwrap_or_default();
    let key = format!("{}:pre_tool_use:", hooks.display());
    let entry = text
        .lines()
        .any(|line| !line.trim_start().starts_with('#') && line.contains(&key));
    let config = config.display();
    if entry {
        let message = format!(
            "{config} trusts a hook of this file; if the hook was changed since, /hooks in Codex says so"
        );
        return Ok(good("trusted", message));
    }
    let message = format!("{config} does not trust it, so that Codex skips it");
    let hint = super::trust(Agent::Codex).map(str::to_owned);
    Ok(Check::new("trusted", Health::Warning, message, hint))
}

fn codex_home(context: &Context) -> Result<PathBuf, CommandError> {
    match context.env().var_set("CODEX_HOME") {
        Some(home) => Ok(PathBuf::from(home)),
        None => Ok(top(context, None, true)?.join(".codex")),
    }
}

fn shown(answer: &HooksDoctorAnswer, view: &View) -> Vec<String> {
    let mut lines = Vec::new();
    for check in &answer.checks {
        let (style, word) = match check.status {
            Health::Ok => (Style::Good, "ok"),
            Health::Warning => (Style::Warn, "warning"),
            Health::Failed => (Style::Bad, "failed"),
        };
        let word = view.paint.show(style, format!("{word:<7}"));
        lines.push(format!(
            "{word}  {:<9}  {}",
            check.name,
            visible(&check.message)
        ));
        lines.extend(check.hint.iter().map(|hint| format!("  {}", visible(hint))));
    }
    lines
}
