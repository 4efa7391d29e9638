//! The parts of a setup. Each part has a file, a content and a way to remove it.

use super::changes::Files;
use crate::agents::block::{MARKDOWN, TOML};
use crate::agents::guard_hook::{self, GuardHook};
use crate::agents::json_text::JsonText;
use crate::agents::settings::{self, Hook, MCP};
use crate::agents::{Agent, file, program, root_words};
use crate::command::prelude::*;
use crate::forward::REMOTE_VARIABLES;
use serde_json::json;
use teamlog_team::lifecycle::ignored::IgnoreFile;
use teamlog_team::resource::can_write::GuardRules;

const HOOKS: [(&str, Hook); 6] = [
    ("guard", Hook::Guard),
    ("session_start", Hook::Start),
    ("subagent_start", Hook::SubagentStart),
    ("subagent_stop", Hook::SubagentStop),
    ("prompt", Hook::Prompt),
    ("stop", Hook::Stop),
];
/// Hook that older versions installed. This hook no longer has an effect, so `setup` removes it.
const RETIRED: (&str, Hook) = ("compaction", Hook::Compaction);
const SKILL: &str = include_str!("../../../SKILL.md");
/// Last line of a skill file that a setup wrote.
const SKILL_END: &str = "\n<!-- Written by teamlog setup, and replaced by it. -->\n";

/// State of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    /// The part is up to date.
    Current,
    /// The part is missing.
    Missing,
    /// The part differs from the part of this version.
    Outdated,
    /// The part would be written.
    WouldWrite,
    /// The part was written.
    Written,
    /// The part was removed.
    Removed,
    /// The part was missing, so there was nothing to remove.
    Absent,
    /// The part was kept, because the setup of another agent needs it.
    Kept,
}

/// A part of a setup.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Part {
    /// Name of the part: `guard`, `session_start`, `subagent_start`, `subagent_stop`, `prompt`, `stop`, `mcp`, `skill`,
    /// `instructions`, `gitignore`, or `compaction` of an older version.
    part: &'static str,
    /// File of the part.
    file: String,
    /// State of the part.
    status: State,
}

impl Part {
    fn new(part: &'static str, file: &Path, status: State) -> Part {
        Part {
            part,
            file: file.display().to_string(),
            status,
        }
    }

    /// Returns the part for git's ignore files. These files list the team's data.
    pub fn ignored(data_root: &Path, files: &[IgnoreFile]) -> Part {
        let open = files.iter().find(|file| !file.settled);
        let state = match open {
            Some(_) => State::Missing,
            None => State::Current,
        };
        let file = open.or(files.last());
        let path = file.map(|file| data_root.join(&file.path));
        Part::new("gitignore", &path.unwrap_or_default(), state)
    }

    pub fn is_current(&self) -> bool {
        self.status == State::Current
    }

    /// Sets the status of an outdated or missing part to written, or to "would be written" if `dry`.
    pub fn written(&mut self, dry: bool) {
        self.status = match (self.status, dry) {
            (State::Current, _) => State::Current,
            (_, true) => State::WouldWrite,
            (_, false) if self.part == RETIRED.0 => State::Removed,
            (_, false) => State::Written,
        };
    }

    /// Renders a line such as `current guard /repo/.claude/settings.local.json`.
    pub fn line(&self, view: &View) -> String {
        self.status.line(view, self.part, &self.file)
    }
}

impl State {
    /// Renders a line such as `current guard /repo/.claude/settings.local.json`.
    pub(super) fn line(self, view: &View, what: &str, value: &str) -> String {
        let (style, word) = match self {
            State::Current => (Style::Good, "current"),
            State::Missing => (Style::Warn, "missing"),
            State::Outdated => (Style::Warn, "outdated"),
            State::WouldWrite => (Style::Plain, "would write"),
            State::Written => (Style::Good, "written"),
            State::Removed => (Style::Good, "removed"),
            State::Absent => (Style::Dim, "absent"),
            State::Kept => (Style::Dim, "kept"),
        };
        let word = view.paint.show(style, format!("{word:<11}"));
        format!("{word}  {what:<13}  {}", visible(value))
    }
}

pub struct Plan {
    pub whose: Agent,
    pub dir: PathBuf,
    pub team: String,
    pub hook: GuardHook,
    /// The team's settings for the guard.
    pub rules: GuardRules,
    /// True if the prompt hook is installed.
    pub modes: bool,
}

fn mcp_file(whose: Agent, dir: &Path) -> PathBuf {
    file::followed(dir.join(match whose {
        Agent::Codex => ".codex/config.toml",
        Agent::Claude | Agent::Pi => ".mcp.json",
    }))
}

fn skill_file(whose: Agent, dir: &Path) -> PathBuf {
    file::followed(dir.join(match whose {
        Agent::Codex => ".agents/skills/teamlog/SKILL.md",
        Agent::Claude | Agent::Pi => ".claude/skills/teamlog/SKILL.md",
    }))
}

fn instructions_file(dir: &Path) -> PathBuf {
    file::followed(dir.join("AGENTS.md"))
}

impl Plan {
    /// Puts all parts into the files. Returns the status that each part had before.
    pub fn put(&self, context: &Context, files: &mut Files) -> Result<Vec<Part>, CommandError> {
        let mut parts = Vec::new();
        for (name, hook) in HOOKS {
            if hook != Hook::Prompt || self.modes {
                parts.push(self.put_hook(context, files, name, hook)?);
            }
        }
        parts.extend(self.retire_hook(context, files)?);
        parts.push(match self.whose {
            Agent::Codex => self.put_toml(context, files)?,
            Agent::Claude | Agent::Pi => self.put_mcp(context, files)?,
        });
        parts.push(self.put_skill(files)?);
        parts.push(self.put_instructions(context, files)?);
        Ok(parts)
    }

    fn put_hook(
        &self,
        context: &Context,
        files: &mut Files,
        name: &'static str,
        hook: Hook,
    ) -> Result<Part, CommandError> {
        let path = self.whose.hooks_file(context, Some(&self.dir), false)?;
        let unusable = |why: String| file::unusable(&path, &why);
        let mut settings = file::json(&path, files.text(&path)?.as_deref())?;
        let group = hook.group(self.whose, &self.line(context, hook)?);
        let there = settings::installed(&settings, hook);
        let state = match there.as_slice() {
            [] => State::Missing,
            [one] if one.group == group => State::Current,
            _ => State::Outdated,
        };
        if state != State::Current {
            settings::put(&mut settings, hook, &group).map_err(unusable)?;
            files.set(&path, Some(settings.text().to_owned()))?;
        }
        Ok(Part::new(name, &path, state))
    }

    /// Removes the hook of older versions if it is installed.
    fn retire_hook(
        &self,
        context: &Context,
        files: &mut Files,
    ) -> Result<Option<Part>, CommandError> {
        let path = self.whose.hooks_file(context, Some(&self.dir), false)?;
        let there = remove_hook(files, &path, RETIRED.1)?;
        Ok(there.then(|| Part::new(RETIRED.0, &path, State::Outdated)))
    }

    /// Returns the command line that the agent runs for a hook. Only the guard's hook may exit with code 2, which
    /// blocks a call.
    fn line(&self, context: &Context, hook: Hook) -> Result<String, CommandError> {
        if hook == Hook::Guard {
            return Ok(guard_hook::line(&self.hook.words(context)?));
        }
        let mut words = vec![program(context)?];
        words.extend(hook.verb().split(' ').map(str::to_owned));
        let mut options = Vec::new();
        if let Some(agent) = &self.hook.agent {
            let option = match hook {
                Hook::Prompt | Hook::Stop => "--actor",
                _ => "--agent",
            };
            options.extend([option.to_owned(), agent.clone()]);
        }
        let root = root_words(context)?;
        // The first option marks the command line as written by teamlog.
        match root.is_empty() {
            true => options.insert(0, "--hook".to_owned()),
            false => options.push("--hook".to_owned()),
        }
        words.extend(root.into_iter().chain(options));
        words.extend(["--", &self.team].map(str::to_owned));
        Ok(format!("{} || exit 1", guard_hook::joined(&words)))
    }

    /// Returns the command line that starts the MCP server.
    fn server(&self, context: &Context) -> Result<Vec<String>, CommandError> {
        let mut words = vec![program(context)?, "mcp".to_owned()];
        words.extend(root_words(context)?);
        words.extend(["--team".to_owned(), self.team.clone()]);
        if let Some(agent) = &self.hook.agent {
            words.extend(["--actor".to_owned(), agent.clone()]);
        }
        Ok(words)
    }

    fn put_mcp(&self, context: &Context, files: &mut Files) -> Result<Part, CommandError> {
        let path = mcp_file(self.whose, &self.dir);
        let unusable = |why: String| file::unusable(&path, &why);
        let mut settings = file::json(&path, files.text(&path)?.as_deref())?;
        let entry = settings::mcp_entry(&self.server(context)?);
        let state = match settings::mcp(&settings) {
            None => State::Missing,
            Some(there) if there == entry => State::Current,
            Some(there) if settings::is_own_mcp(&there) => State::Outdated,
            Some(_) => return Err(unusable("its server teamlog is another one".to_owned())),
        };
        if state != State::Current {
            settings.put(&MCP, &entry).map_err(unusable)?;
            files.set(&path, Some(settings.text().to_owned()))?;
        }
        Ok(Part::new("mcp", &path, state))
    }

    fn put_toml(&self, context: &Context, files: &mut Files) -> Result<Part, CommandError> {
        let path = mcp_file(self.whose, &self.dir);
        let unusable = |why: String| file::unusable(&path, &why);
        let text = files.text(&path)?.unwrap_or_default();
        let others = TOML.without(&text).map_err(unusable)?;
        if others.lines().any(names_the_server) {
            return Err(unusable("its server teamlog is another one".to_owned()));
        }
        let words = self.server(context)?;
        let (command, rest) = words.split_at(1);
        // JSON strings are valid TOML strings.
        let command = command.first().map(|command| json!(command).to_string());
        let mut lines = format!(
            "[mcp_servers.teamlog]\ncommand = {}\nargs = {}",
            command.unwrap_or_default(),
            json!(rest)
        );
        if context.is_remote() {
            // Codex gives a server only the variables that its table names.
            lines.push_str(&format!("\nenv_vars = {}", json!(REMOTE_VARIABLES)));
        }
        let new = TOML.put(&text, &lines).map_err(unusable)?;
        let state = stands(text != others, text == new);
        files.set(&path, Some(new))?;
        Ok(Part::new("mcp", &path, state))
    }

    fn put_skill(&self, files: &mut Files) -> Result<Part, CommandError> {
        let path = skill_file(self.whose, &self.dir);
        let new = format!("{SKILL}{SKILL_END}");
        let state = match files.text(&path)? {
            None => State::Missing,
            Some(there) if there == new => State::Current,
            Some(there) if there.ends_with(SKILL_END) => State::Outdated,
            Some(_) => {
                let why = "somebody else wrote it; move it away, and run setup again";
                return Err(file::unusable(&path, why));
            }
        };
        files.set(&path, Some(new))?;
        Ok(Part::new("skill", &path, state))
    }

    fn put_instructions(&self, context: &Context, files: &mut Files) -> Result<Part, CommandError> {
        let path = instructions_file(&self.dir);
        let unusable = |why: String| file::unusable(&path, &why);
        let text = files.text(&path)?.unwrap_or_default();
        let others = MARKDOWN.without(&text).map_err(unusable)?;
        let new = MARKDOWN
            .put(&text, &self.paragraph(context)?)
            .map_err(unusable)?;
        let state = stands(text != others, text == new);
        files.set(&path, Some(new))?;
        Ok(Part::new("instructions", &path, state))
    }

    fn paragraph(&self, context: &Context) -> Result<String, CommandError> {
        let team = quoted(&self.team);
        // Include the data root, because an agent may run the commands in a worktree or in another project.
        let mut program = vec![context.called().name().to_owned()];
        program.extend(root_words(context)?);
        let program = guard_hook::joined(&program);
        let typed = |rest: &str| format!("{program} {rest}");
        let who = match context.is_remote() {
            true => "The token in `TEAMLOG_TOKEN_FILE`",
            false => "`TEAMLOG_AGENT`",
        };
        Ok(format!(
            "## The team {}\n\n\
             Several agents work here. Their tasks, messages and leases on files are in the log of `teamlog`. {who} \
             says who you are.\n\n\
             - Begin with `{}`: your tasks, your mail, what to type next.\n\
             - Before you write files, hold a task that declares them: `{}`, then `{}`. Renew the claim while you work.\n\
             - Report and finish: `{}`. Acknowledge mail that you dealt with: `{}`.\n\
             - What another agent holds is not yours to write; ask it: `{}`.\n\n\
             The skill `teamlog` has the rest.",
            self.team,
            typed(&format!("prime {team}")),
            typed(&format!(
                "task create {team} --subject TEXT --resource PATH"
            )),
            typed(&format!("task claim {team} ID")),
            typed(&format!("task complete {team} ID --epoch N --result TEXT")),
            typed(&format!("ack {team} --message-id ID")),
            typed(&format!(
                "send {team} --to AGENT --type message --payload-json JSON"
            )),
        ))
    }
}

fn stands(there: bool, current: bool) -> State {
    match (there, current) {
        (_, true) => State::Current,
        (true, false) => State::Outdated,
        (false, false) => State::Missing,
    }
}

/// Returns true if a line opens the TOML table of our MCP server.
fn names_the_server(line: &str) -> bool {
    let line: String = line.chars().filter(|c| !" \t\"'".contains(*c)).collect();
    line.starts_with("[mcp_servers.teamlog")
        || line.starts_with("mcp_servers.teamlog")
        || line.starts_with("mcp_servers=")
        || line.starts_with("teamlog={")
        || line.starts_with("teamlog.command=")
}

/// Removes all parts from the files. Returns the parts that were installed.
pub fn take_out(
    context: &Context,
    whose: Agent,
    dir: &Path,
    files: &mut Files,
) -> Result<Vec<Part>, CommandError> {
    let mut parts = Vec::new();
    let hooks = whose.hooks_file(context, Some(dir), false)?;
    for (name, hook) in HOOKS {
        let there = remove_hook(files, &hooks, hook)?;
        parts.push(Part::new(name, &hooks, gone(there)));
    }
    if remove_hook(files, &hooks, RETIRED.1)? {
        parts.push(Part::new(RETIRED.0, &hooks, State::Removed));
    }
    let mcp = mcp_file(whose, dir);
    let there = match whose {
        Agent::Codex => change_text(files, &mcp, |text| TOML.without(text))?,
        Agent::Claude | Agent::Pi => change_json(files, &mcp, |settings| {
            let own = settings::mcp(settings).is_some_and(|entry| settings::is_own_mcp(&entry));
            own && settings.remove(&MCP)
        })?,
    };
    parts.push(Part::new("mcp", &mcp, gone(there)));
    let skill = skill_file(whose, dir);
    let there = files.text(&skill)?;
    let there = there.is_some_and(|text| text.ends_with(SKILL_END));
    if there {
        files.set(&skill, None)?;
    }
    parts.push(Part::new("skill", &skill, gone(there)));
    parts.push(take_out_instructions(context, whose, dir, files)?);
    Ok(parts)
}

/// Removes a hook from the settings. Returns true if the hook was installed.
fn remove_hook(files: &mut Files, path: &Path, hook: Hook) -> Result<bool, CommandError> {
    change_json(files, path, |settings| {
        let there = !settings::installed(settings, hook).is_empty();
        settings::remove(settings, hook);
        there
    })
}

/// Removes the paragraph of instructions, unless the setup of another agent still uses it.
fn take_out_instructions(
    context: &Context,
    whose: Agent,
    dir: &Path,
    files: &mut Files,
) -> Result<Part, CommandError> {
    let path = instructions_file(dir);
    let other = match whose {
        Agent::Codex => Agent::Claude,
        Agent::Claude | Agent::Pi => Agent::Codex,
    };
    let others = file::read(&other.hooks_file(context, Some(dir), false)?)?;
    let others = JsonText::parse(others.as_deref()).ok();
    if others.is_some_and(|others| !settings::installed(&others, Hook::Start).is_empty()) {
        return Ok(Part::new("instructions", &path, State::Kept));
    }
    let there = change_text(files, &path, |text| MARKDOWN.without(text))?;
    Ok(Part::new("instructions", &path, gone(there)))
}

fn gone(there: bool) -> State {
    if there { State::Removed } else { State::Absent }
}

/// Changes a JSON file with `change` and returns its result. Deletes the file if it becomes empty.
fn change_json(
    files: &mut Files,
    path: &Path,
    change: impl FnOnce(&mut JsonText) -> bool,
) -> Result<bool, CommandError> {
    let Some(text) = files.text(path)? else {
        return Ok(false);
    };
    let mut settings = file::json(path, Some(&text))?;
    let changed = change(&mut settings);
    if changed {
        let left = (!settings.is_empty()).then(|| settings.text().to_owned());
        files.set(path, left)?;
    }
    Ok(changed)
}

/// Changes a text file. Deletes the file if it becomes empty. Returns true if the file changed.
fn change_text(
    files: &mut Files,
    path: &Path,
    change: impl FnOnce(&str) -> Result<String, String>,
) -> Result<bool, CommandError> {
    let Some(text) = files.text(path)? else {
        return Ok(false);
    };
    let left = change(&text).map_err(|why| file::unusable(path, &why))?;
    let changed = left != text;
    if changed {
        files.set(path, (!left.is_empty()).then_some(left))?;
    }
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use super::names_the_server;

    #[test]
    fn another_server_of_that_name_is_noticed() {
        for line in [
            "[mcp_servers.teamlog]",
            " [ mcp_servers . \"teamlog\" ]",
            "[mcp_servers.teamlog.env]",
            "mcp_servers = { teamlog = {} }",
            "mcp_servers.teamlog.command = \"x\"",
            "teamlog = { command = \"x\" }",
        ] {
            assert!(names_the_server(line), "{line}");
        }
        for line in [
            "[mcp_servers.other]",
            "model = \"teamlog\"",
            "# teamlog = {",
        ] {
            assert!(!names_the_server(line), "{line}");
        }
    }
}
