//! `guard`: decides if a coding agent may carry out a tool call. The agent's hook runs this command before the call.
//!
//! Every failure of this command denies the call, because agents treat other exits of a hook as permission.

mod exec;
pub mod init_stage;
mod leases;
mod unknown;

use super::EFFECTS;
use super::hooks::PROBE;
use super::printed::{Printed, text as text_only};
use crate::agents::Agent;
use crate::agents::guard_hook::OnUnknown;
use crate::agents::subagent::{Acting, Subagent};
use crate::command::prelude::*;
use crate::global::Global;
use crate::hint::Cause;
use crate::render::paths::STALE;
use leases::Leases;
use serde_json::{Value, json};
use std::panic::{self, AssertUnwindSafe};
use teamlog_guard::{Call, Form, Own, Place, Programs, Target, Writes};
use teamlog_team::resource::Tree;
use teamlog_team::resource::can_write::{CanWriteAll, GuardRules, WriteReason, WriteVerdict};
use teamlog_team::resource::refused::{RefusedWrite, RefusedWrites};

/// Maximum number of paths in an answer.
const NAMED_MAX: usize = 5;

#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    long_about = "Decide if a coding agent may carry out a tool call, given as JSON on standard input\n\nExit code 0 allows the call; exit code 2 denies it, with the reason on standard error. Any failure is 2, too. If the guard cannot tell which \
        files a call writes, the team's setting guard.unknown decides; for `ask` the exit code is 0, with JSON on \
        standard output. The guard prevents mistakes. It is no sandbox: a program that may run can write any file.",
    after_help = "\
Examples:
  teamlog guard demo --agent dev --root . < call.json
  teamlog guard demo --agent dev --root . --scratch /tmp --on-unknown deny < call.json"
)]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    /// The team [default: $TEAMLOG_TEAM, else the only team that is not closed]
    team: Option<String>,
    #[command(flatten)]
    who: WriterArgs,
    /// A directory outside of the repository that may be written without a lease; repeatable
    #[arg(long, value_name = "DIR")]
    scratch: Vec<PathBuf>,
    /// Answer if the guard cannot tell which files a call writes [default: the team's setting `guard.unknown`]
    #[arg(long, value_enum, value_name = "ANSWER")]
    on_unknown: Option<OnUnknown>,
    /// The coding agent that runs this hook. Codex cannot ask a person, so `ask` becomes a refusal for Codex
    #[arg(long, value_enum, value_name = "WHOSE")]
    client: Option<Agent>,
}

/// Subcommands of the guard.
#[derive(Debug, clap::Subcommand)]
enum Action {
    Exec(exec::Exec),
}

pub(super) fn printed() -> Vec<Printed> {
    vec![text_only(""), text_only("exec")]
}

/// The agent that writes, and its repository.
#[derive(Debug, clap::Args)]
struct WriterArgs {
    /// The agent that wants to write [default: the acting agent, else $PI_AGENT_ID]
    #[arg(long)]
    agent: Option<String>,
    /// The repository [default: the team's setting `resources.root`]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

enum Decision {
    Allow,
    Ask(Form, String),
}

impl Args {
    /// Returns true if a coding agent's hook runs this command. Agents treat every exit code except 2 as permission.
    pub fn is_asked(&self) -> bool {
        self.action.is_none()
    }

    pub fn run(mut self, context: &mut Context) -> Outcome {
        if let Some(Action::Exec(exec)) = self.action.take() {
            return exec.run(context);
        }
        // Turn a panic into a denial. An unhandled panic would exit with a code that agents treat as permission.
        let before = panic::take_hook();
        panic::set_hook(Box::new(|_| {}));
        let decided = panic::catch_unwind(AssertUnwindSafe(|| self.decide(context)));
        panic::set_hook(before);
        match decided {
            Ok(Ok(Decision::Allow)) => Ok(Exit::Done),
            Ok(Ok(Decision::Ask(form, why))) => {
                let asked = context.out.json(&question(form, &why));
                asked
                    .and_then(|()| context.out.flush())
                    .map_err(|error| error.ending(Exit::Usage))?;
                match context.out.reader_left() {
                    true => Err(denied("nobody reads the question")),
                    false => Ok(Exit::Done),
                }
            }
            Ok(Err(error)) => Err(error.ending(Exit::Usage)),
            Err(_) => Err(denied("teamlog has a bug, and cannot tell")),
        }
    }

    fn decide(&self, context: &mut Context) -> Result<Decision, CommandError> {
        let told = given::stdin(context.env(), "the tool call")?;
        let mut call =
            Call::parse(&told).map_err(|error| CommandError::invalid("call", error.to_string()))?;
        let subagent = subagent(&told)?;
        // Resolve symlinks, because the paths are compared with the resolved path of the repository.
        call.cwd = call.cwd.map(|dir| real(&dir));
        if call.action == teamlog_guard::Action::Reads {
            return Ok(Decision::Allow);
        }
        let mut place = Place {
            dir: context
                .env()
                .here()
                .ok()
                .and_then(text)
                .map(|dir| real(&dir)),
            home: variable(context, "HOME"),
            top: None,
        };
        let mut writes = call.writes(&place, &programs(""));
        if writes.is_nothing() {
            return Ok(Decision::Allow);
        }
        let certain = writes.targets().next().is_some();
        let mut team = match self.team(context, &mut place) {
            Ok((mut team, root, rules)) => {
                writes = call.writes(&place, &programs(&rules.known));
                if writes.targets().next().is_some() {
                    let acting = team.acting(context, &self.who, subagent.as_ref())?;
                    self.check(context, (&mut team, root), &acting, &writes)?;
                }
                Some((team, rules))
            }
            Err(error) if certain => return Err(error),
            // Without a team there is no list of trusted programs, so the call stays unknown.
            Err(_) => None,
        };
        if writes.unknown().is_empty() {
            return Ok(Decision::Allow);
        }
        let asked = (&call, &place, &writes);
        unknown::decide(self, context, asked, (team.as_mut(), subagent.as_ref()))
    }

    /// Returns the team, the repository and the guard's settings.
    fn team(
        &self,
        context: &mut Context,
        place: &mut Place,
    ) -> Result<(Leases, String, GuardRules), CommandError> {
        let mut team = Leases::read(context, self.team.clone())?;
        let root = self.who.root(context, || team.root())?;
        if !root.is_empty() {
            place.top = Some(real(&root));
        }
        let rules = team.rules()?;
        Ok((team, root, rules))
    }

    fn check(
        &self,
        context: &mut Context,
        (team, root): (&mut Leases, String),
        acting: &Acting,
        writes: &Writes,
    ) -> Result<(), CommandError> {
        let agent = &acting.agent;
        let targets: Vec<&Target> = writes.targets().collect();
        let rootless = root.is_empty();
        let mut asked = CanWriteAll {
            agent: agent.clone(),
            root: Some(root),
            paths: targets.iter().map(|target| target.path.clone()).collect(),
        };
        let mut verdicts = team.can_write_all(&asked)?;
        if let Some(parent) = &acting.parent {
            asked.agent.clone_from(parent);
            let parents = team.can_write_all(&asked)?;
            for (own, parents) in verdicts.iter_mut().zip(parents) {
                if !own.allow && parents.allow {
                    *own = parents;
                }
            }
        }
        let free = |path: &str| {
            self.scratch.iter().any(|dir| {
                let dir = absolute(context, dir);
                dir.is_some_and(|dir| Tree::at(&dir).normal(path).is_ok())
            })
        };
        let refused: Vec<(&Target, WriteVerdict)> = targets
            .into_iter()
            .zip(verdicts)
            .filter(|(_, verdict)| !verdict.allow)
            .filter(|(target, verdict)| !(outside(verdict.reason) && free(&target.path)))
            .collect();
        if refused.is_empty() {
            return Ok(());
        }
        let name = team.team().to_owned();
        let tried = RefusedWrites {
            agent: agent.clone(),
            subagent: acting.subagent.clone(),
            writes: refused.iter().filter_map(tried).collect(),
        };
        if team.wants_refused_writes(&tried) {
            context.put_off(&name, tried);
        }
        let named: Vec<String> = refused
            .iter()
            .take(NAMED_MAX)
            .map(|(target, verdict)| said(target, verdict))
            .collect();
        let mut message = format!("{agent} may not write {}", named.join("; nor "));
        if refused.len() > NAMED_MAX {
            message.push_str(&format!("; nor {} more", refused.len() - NAMED_MAX));
        }
        let error = CommandError::new(Exit::Usage, "write_denied", message);
        let holder = refused
            .iter()
            .find_map(|(_, verdict)| verdict.holder.as_deref());
        Err(error.beside(context.hint(&Cause::WriteDenied {
            team: &name,
            agent,
            is_rootless: rootless,
            holder,
        })))
    }
}

impl WriterArgs {
    fn agent(&self, context: &Context) -> Result<String, CommandError> {
        context.agent("--agent", self.named(context))
    }

    fn named(&self, context: &Context) -> Option<String> {
        let named = self.agent.clone().or_else(|| context.actor());
        named.or_else(|| variable(context, "PI_AGENT_ID"))
    }

    /// Returns the path of the repository, or an empty text if neither an option nor a setting names a repository.
    fn root(
        &self,
        context: &Context,
        set: impl FnOnce() -> Result<String, CommandError>,
    ) -> Result<String, CommandError> {
        let Some(root) = &self.root else {
            return set();
        };
        absolute(context, root).ok_or_else(|| {
            let message = format!("root must be a path as text, but is {}", root.display());
            CommandError::invalid("root", message)
        })
    }
}

/// Returns the subagent that makes the tool call, or `None` if the main agent makes the call.
fn subagent(call: &str) -> Result<Option<Subagent>, CommandError> {
    match serde_json::from_str(call) {
        Ok(Value::Object(fields)) => Subagent::from_fields(&fields),
        _ => Ok(None),
    }
}

/// Returns the event to record for a refused path, or `None` for the path that `hooks doctor` probes.
fn tried((target, verdict): &(&Target, WriteVerdict)) -> Option<RefusedWrite> {
    let write = RefusedWrite {
        path: verdict.path.clone(),
        tool: target.by.to_string(),
        reason: verdict.reason,
        holder: verdict.holder.clone(),
    };
    (target.path != PROBE).then_some(write)
}

/// Returns true if the path was refused because the path is outside of the repository.
fn outside(reason: WriteReason) -> bool {
    matches!(
        reason,
        WriteReason::PathTraversalDenied | WriteReason::InvalidPath
    )
}

/// Formats a verdict, for example `/repo/src/a (rm): qa holds src for task 2 until …`.
fn said(target: &Target, verdict: &WriteVerdict) -> String {
    let what = match target.below {
        true => format!("what lies below {}", target.path),
        false => target.path.clone(),
    };
    let held = |field: &Option<String>| field.clone().unwrap_or_default();
    let why = match verdict.reason {
        WriteReason::ResourceHeldByOther => format!(
            "{} holds {} for task {} until {}",
            held(&verdict.holder),
            held(&verdict.resource),
            held(&verdict.task_id),
            held(&verdict.until)
        ),
        WriteReason::PathTraversalDenied => "it lies outside of the repository".to_owned(),
        WriteReason::InvalidPath => "the root of the repository is not set".to_owned(),
        WriteReason::Stale => STALE.to_owned(),
        WriteReason::NoActiveLeaseForPath | WriteReason::LeaseActiveForResource => {
            "it holds no task that declares it".to_owned()
        }
    };
    format!("{what} ({}): {why}", target.by)
}

/// Returns the programs that the guard knows: teamlog's commands and the programs that the team trusts.
fn programs(trusted: &str) -> Programs {
    let own = Own {
        commands: EFFECTS,
        options: Global::options(),
    };
    Programs::trusting(own, trusted)
}

fn denied(why: &str) -> CommandError {
    CommandError::new(Exit::Usage, "write_denied", why)
}

/// Returns the JSON answer that makes the agent ask its user.
fn question(form: Form, why: &str) -> Value {
    match form {
        Form::Native => json!({"hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "ask",
            "permissionDecisionReason": why,
        }}),
        Form::Plain => json!({"decision": "ask", "reason": why}),
    }
}

fn variable(context: &Context, name: &str) -> Option<String> {
    context.env().var_set(name)?.into_string().ok()
}

fn text(path: PathBuf) -> Option<String> {
    path.into_os_string().into_string().ok()
}

/// Resolves the symlinks of a directory. Returns the path unchanged if the directory does not exist.
fn real(dir: &str) -> String {
    let found = std::fs::canonicalize(dir).ok().and_then(text);
    found.unwrap_or_else(|| dir.to_owned())
}

fn absolute(context: &Context, dir: &Path) -> Option<String> {
    let here = context.env().here().ok()?;
    text(here.join(dir))
}
