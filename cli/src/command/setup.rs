//! `setup`: configures a coding agent for a team. The settings are merged into existing files.
//!
//! Invariants: all changes are computed before the first write; other content of a file keeps its order; a second run
//! changes nothing; `--remove` removes exactly the parts that earlier runs added.

mod changes;
mod parts;
mod project;
mod team_settings;

use crate::agents::guard_hook::{GuardHook, GuardOptions};
use crate::agents::settings::{self, Hook};
use crate::agents::{Agent, file, guard_hook, path_note, text, top, typed};
use crate::command::prelude::*;
use crate::hint::Cause;
use changes::{FileChange, Files};
use clap::ValueEnum;
use parts::{Part, Plan};
use team_settings::SettingPart;
use teamlog_team::Root;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Set up a coding agent for a team: the guard before writes, a briefing at the start of sessions and \
        subagents, the end of modes at its stop, the MCP server, the skill, a paragraph in AGENTS.md; with --modes \
        also modes by `$name` in prompts; and the settings by which the guard allows builds and tests: \
        guard.unknown, and guard.known with the commands in the project's files\n\nThese parts are merged into the \
        project's files. The rest of those files is kept, and a second run changes nothing. Options that are not \
        given (team, agent, --modes, options of the guard) keep the values of the last setup. --check exits with 1 \
        if a part is missing or outdated.",
    after_help = "\
Examples:
  teamlog setup claude --team demo
  teamlog setup codex --team demo --agent dev --scratch /tmp
  teamlog setup claude --modes
  teamlog setup claude --dry-run --json
  teamlog setup claude --remove"
)]
pub struct Args {
    /// The coding agent
    #[arg(value_enum, value_name = "WHOSE")]
    whose: Host,
    /// The team [default: the team of the last setup, else $TEAMLOG_TEAM, else the only team that is not closed]
    #[arg(long, short = 't', value_name = "TEAM")]
    team: Option<String>,
    /// The acting agent [default: $TEAMLOG_AGENT at run time]
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    #[command(flatten)]
    guard: GuardOptions,
    /// Install the prompt hook as well: `$name` at the head of a prompt starts a mode
    #[arg(long, conflicts_with = "remove")]
    modes: bool,
    /// The project directory [default: the working directory]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Only show the changes
    #[arg(long, conflicts_with_all = ["check", "remove"])]
    dry_run: bool,
    /// Only check that all parts are installed and up to date
    #[arg(long, conflicts_with = "remove")]
    check: bool,
    /// Remove the parts
    #[arg(long)]
    remove: bool,
}

/// A coding agent that `setup` can configure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Host {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
}

impl Host {
    fn whose(self) -> Agent {
        match self {
            Host::Claude => Agent::Claude,
            Host::Codex => Agent::Codex,
        }
    }
}

/// Result of the setup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    /// All parts are up to date.
    Unchanged,
    /// A part would be written.
    WouldWrite,
    /// A part was written.
    Written,
    /// A part is missing or outdated.
    Incomplete,
    /// The parts were removed.
    Removed,
}

/// `{status, whose, team, dir, parts, settings, files, notes}`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SetupAnswer {
    /// Result of the setup.
    status: Status,
    /// The coding agent.
    whose: Agent,
    /// The team; `null` if the parts were removed.
    team: Option<String>,
    /// The project directory.
    dir: String,
    /// Parts of the setup.
    parts: Vec<Part>,
    /// Settings of the team that belong to the setup.
    settings: Vec<SettingPart>,
    /// Changed files.
    files: Vec<FileChange>,
    /// Steps left to the user.
    notes: Vec<String>,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        let dir = top(context, self.dir.as_deref(), false)?;
        let whose = self.whose.whose();
        let file = whose.hooks_file(context, Some(&dir), false)?;
        let there = GuardHook::installed(whose, &file, file::read(&file)?.as_deref())?;
        if self.remove {
            return self.take_out(context, &dir);
        }
        let (plan, root) = self.plan(context, &dir, there.unwrap_or_default())?;
        let mut files = Files::default();
        let mut parts = plan.put(context, &mut files)?;
        // The ignore files are beside the log.
        if let Some(root) = &root {
            let ignored = root.ignore_files(&plan.team)?;
            parts.push(Part::ignored(context.data_root()?, &ignored));
        }
        let mut settings = SettingPart::wanted(&plan, &dir);
        let placed = parts.iter().all(Part::is_current);
        let whole = placed && settings.iter().all(SettingPart::is_current);
        let mut may_set = true;
        let writes = !self.check && !self.dry_run;
        if writes {
            context.records(Repeat::Same);
            may_set = team_settings::write(&settings, context, &plan.team)?;
            files.write(&dir)?;
            if let Some(root) = &root {
                root.write_ignore_files(&plan.team)?;
            }
        }
        if !self.check {
            parts.iter_mut().for_each(|part| part.written(self.dry_run));
        }
        if !self.check && may_set {
            settings
                .iter_mut()
                .for_each(|setting| setting.written(self.dry_run));
        }
        let status = match (whole, self.check, self.dry_run) {
            (true, _, _) => Status::Unchanged,
            (false, false, false) if placed && !may_set => Status::Unchanged,
            (false, true, _) => Status::Incomplete,
            (false, false, true) => Status::WouldWrite,
            (false, false, false) => Status::Written,
        };
        let answer = SetupAnswer {
            status,
            whose: plan.whose,
            notes: self.notes(context, &plan, &dir, (whole, may_set))?,
            team: Some(plan.team),
            dir: dir.display().to_string(),
            parts,
            settings,
            files: files.changes(),
        };
        let dry = self.dry_run;
        context.answer(&answer, |answer, view| shown(answer, view, dry))?;
        Ok(match status {
            Status::Incomplete => Exit::Refused,
            _ => Exit::Done,
        })
    }

    fn plan(
        &self,
        context: &mut Context,
        dir: &Path,
        there: GuardHook,
    ) -> Result<(Plan, Option<Root>), CommandError> {
        let whose = self.whose.whose();
        let named = self.team.clone().or_else(|| there.team.clone());
        let team = context.team_named(named)?;
        let (rules, repository) = super::hooks::rules(context, &team, self.agent.as_deref())?;
        let wished = GuardHook {
            agent: self.agent.clone(),
            ..GuardHook::default()
        };
        let file = whose.hooks_file(context, Some(dir), false)?;
        wished
            .check_agent(&there, &file)
            .map_err(|error| self.advise(context, error, &team))?;
        let named = (Some(team.clone()), self.agent.clone());
        let mut hook = self.guard.hook(context, whose, named, there)?;
        // On another machine, the setting of the team does not name this project.
        if hook.root.is_none() && (repository.is_empty() || context.is_remote()) {
            hook.root = Some(text(context, dir)?);
        }
        let root = match context.is_remote() {
            true => None,
            false => Some(context.root(&team)?),
        };
        let settings = file::json(&file, file::read(&file)?.as_deref())?;
        let plan = Plan {
            whose,
            dir: dir.to_owned(),
            team,
            hook,
            rules,
            modes: self.modes || !settings::installed(&settings, Hook::Prompt).is_empty(),
        };
        Ok((plan, root))
    }

    fn advise(&self, context: &Context, error: CommandError, team: &str) -> CommandError {
        let name = typed(&self.whose.whose());
        let dir = self.dir.as_ref().map(|dir| dir.display().to_string());
        let dir = dir.map(|dir| format!(" --dir {}", quoted(&dir)));
        let dir = dir.unwrap_or_default();
        error.beside(context.hint(&Cause::ManyAgents {
            agent: self.agent.as_deref(),
            commands: vec![
                format!("setup {name} --remove{dir}"),
                format!("setup {name} --team {}{dir}", quoted(team)),
            ],
        }))
    }

    fn take_out(&self, context: &mut Context, dir: &Path) -> Outcome {
        let whose = self.whose.whose();
        let mut files = Files::default();
        let parts = parts::take_out(context, whose, dir, &mut files)?;
        let changes = files.changes();
        files.write(dir)?;
        let answer = SetupAnswer {
            status: if changes.is_empty() {
                Status::Unchanged
            } else {
                Status::Removed
            },
            whose,
            team: None,
            dir: dir.display().to_string(),
            parts,
            settings: Vec::new(),
            files: changes,
            notes: Vec::new(),
        };
        context.end(Exit::Done, &answer, |answer, view| {
            shown(answer, view, false)
        })
    }

    /// Returns the steps that the user must take.
    fn notes(
        &self,
        context: &Context,
        plan: &Plan,
        dir: &Path,
        (whole, may_set): (bool, bool),
    ) -> Result<Vec<String>, CommandError> {
        let mut notes = super::hooks::environment(context);
        if !may_set {
            notes.push(format!(
                "this token may not change settings of the team; on the machine of the daemon: teamlog config set {} guard.unknown allow_when_free, and guard.known",
                quoted(&plan.team)
            ));
        }
        if plan.hook.agent.is_none() && context.actor().is_none() {
            notes.push(
                "say who acts where the agent is started: export TEAMLOG_AGENT=NAME".to_owned(),
            );
        }
        if plan.modes && !self.modes {
            notes.push(format!(
                "the prompt hook is installed: `$name` at the head of a prompt starts a mode; to stop that: {}",
                context.command(&format!("config set {} modes.trigger off", quoted(&plan.team)))
            ));
        }
        match plan.whose {
            Agent::Claude => {
                let own = file::read(&dir.join("CLAUDE.md"))?.unwrap_or_default();
                if !own.contains("@AGENTS.md") {
                    notes.push(
                        "Claude Code reads CLAUDE.md: the line @AGENTS.md there takes in the paragraph".to_owned(),
                    );
                }
            }
            Agent::Codex | Agent::Pi if !whole => {
                notes.extend(super::hooks::trust(plan.whose).map(str::to_owned));
            }
            Agent::Codex | Agent::Pi => {}
        }
        let more = team_settings::not_known(plan, dir);
        if !more.is_empty() {
            let known = [vec![plan.rules.known.clone()], more.clone()].concat();
            let known: Vec<String> = known.into_iter().filter(|one| !one.is_empty()).collect();
            let set = format!(
                "config set {} guard.known {}",
                quoted(&plan.team),
                quoted(&known.join(", "))
            );
            notes.push(format!(
                "guard.known does not name {}; to add: {}",
                more.join(", "),
                context.command(&set)
            ));
        }
        notes.extend(path_note(context)?);
        let check = format!(
            "hooks doctor {} --dir {}",
            typed(&plan.whose),
            guard_hook::joined(&[dir.display().to_string()])
        );
        notes.push(format!("to try the guard: {}", context.command(&check)));
        Ok(notes)
    }
}

fn shown(answer: &SetupAnswer, view: &View, dry: bool) -> Vec<String> {
    let mut lines: Vec<String> = answer.parts.iter().map(|part| part.line(view)).collect();
    lines.extend(answer.settings.iter().map(|setting| setting.line(view)));
    if dry {
        for change in &answer.files {
            lines.push(String::new());
            lines.extend(change.lines());
        }
    }
    if answer.status == Status::Removed {
        return lines;
    }
    lines.extend(answer.notes.iter().map(|note| visible(note).into_owned()));
    lines
}
