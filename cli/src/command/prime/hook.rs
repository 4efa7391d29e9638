//! `prime --hook`: answers the hooks at the start of a session, at the start of a subagent and at the end of a subagent.

use crate::agents::event::{ContextAnswer, HookEvent, StopAnswer};
use crate::agents::subagent::{Acting, Subagent};
use crate::call::Call;
use crate::command::prelude::*;
use crate::render::style::Paint;
use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use teamlog_team::lifecycle::manifest::ReadManifest;
use teamlog_team::message::prime::Prime;
use teamlog_team::worker::record::WriteIdentity;

const START: &str = "SessionStart";
const SUBAGENT_START: &str = "SubagentStart";
const SUBAGENT_STOP: &str = "SubagentStop";
/// Variable with the path of the script that Claude Code runs before each shell command of an agent. Set for session hooks.
const ENV_FILE: &str = "CLAUDE_ENV_FILE";
/// Variable that names the session in which an agent makes claims.
const SESSION: &str = "TEAMLOG_SESSION";

/// Reads the hook's event from standard input and answers the event.
pub fn answer(context: &mut Context, team: &str, named: Option<String>) -> Outcome {
    context.answer_hook();
    let told = HookEvent::read(context)?;
    if told.event == START && told.subagent.is_none() {
        // Ignore errors, because an agent can work with the epochs of its claims.
        let _ = export_session(context, told.session_id.as_deref());
    }
    let acting = acting(context, team, named, &told)?;
    if told.event == SUBAGENT_STOP {
        return stopping(context, team, &acting, &told);
    }
    let mut lines = Vec::new();
    if let Some(subagent) = &told.subagent {
        lines.push(introduction(context, team, &acting));
        if told.event == SUBAGENT_START && acting.is_own(told.subagent.as_ref()) {
            // Ignore errors, because a subagent can work without a registration.
            let _ = register(context, team, &acting, subagent);
        }
    }
    // Use plain text, because the output of a hook is not escaped for a terminal.
    let plain = View {
        paint: Paint::new(false),
        width: None,
        ..context.view()
    };
    let input = Prime {
        agent: acting.agent.clone(),
        session: context.origin().claim_session,
    };
    let mut primed = context.read(team, input)?;
    lines.extend(context.damage(team));
    super::everyday::reword(&mut primed, context);
    lines.extend(render::hand::primed(&primed, &plain));
    let event = [START, SUBAGENT_START].into_iter();
    let event = event.into_iter().find(|event| *event == told.event);
    match event {
        Some(event) => context
            .out
            .json(&ContextAnswer::new(event, lines.join("\n")))?,
        None if context.out.is_json() => context
            .out
            .json(&ContextAnswer::new(START, lines.join("\n")))?,
        None => context.out.lines(&lines)?,
    }
    context.ended(Exit::Done)
}

/// Exports the session to the shells that Claude Code starts for the agent, so that a claim is found by its session.
fn export_session(context: &Context, session: Option<&str>) -> io::Result<()> {
    let Some(session) = session.filter(|session| !session.is_empty()) else {
        return Ok(());
    };
    let file = match (
        context.env().var_set(ENV_FILE),
        context.env().var_set(SESSION),
    ) {
        (Some(file), None) => file,
        // Another agent, or the session has a name from outside.
        _ => return Ok(()),
    };
    let begin = format!("export {SESSION}=");
    let line = format!("{begin}{}", quoted(session));
    let mut options = OpenOptions::new();
    let mut file = options.read(true).append(true).create(true).open(file)?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    let last = text.lines().rfind(|line| line.starts_with(&begin));
    match last == Some(line.as_str()) {
        true => Ok(()),
        false => {
            let apart = match text.is_empty() || text.ends_with('\n') {
                true => "",
                false => "\n",
            };
            file.write_all(format!("{apart}{line}\n").as_bytes())
        }
    }
}

/// Finds the acting agent. With a daemon on another machine, the token names one acting agent for all agents of a session.
fn acting(
    context: &mut Context,
    team: &str,
    named: Option<String>,
    told: &HookEvent,
) -> Result<Acting, CommandError> {
    if told.subagent.is_none() || context.is_remote() {
        return Ok(Acting {
            agent: context.agent("--agent", named)?,
            parent: None,
            subagent: told.subagent.as_ref().map(Subagent::name),
        });
    }
    let mut handle = context.team(team)?;
    Acting::for_team(context, &mut handle, named, told.subagent.as_ref())
}

/// Returns a text that tells a subagent its name and how to act under this name.
fn introduction(context: &Context, team: &str, acting: &Acting) -> String {
    let agent = &acting.agent;
    let typed = context.command(&format!("prime {} --agent {agent}", quoted(team)));
    match (&acting.subagent, &acting.parent) {
        (Some(subagent), _) => {
            format!(
                "You are the subagent {subagent} of {agent} in the team {team}, and act as {agent}."
            )
        }
        (None, Some(parent)) => format!(
            "You are {agent} in the team {team}, a subagent of {parent}. Put --actor {agent} into each teamlog command, and \
             {agent} where a command asks for an agent or a worker: `{typed}`. You may also write what {parent} holds."
        ),
        (None, None) => format!(
            "You are {agent} in the team {team}. Put --actor {agent} into each teamlog command, and {agent} where a command \
             asks for an agent or a worker: `{typed}`."
        ),
    }
}

/// Registers a subagent as a worker if the subagent is not registered yet.
fn register(
    context: &mut Context,
    team: &str,
    acting: &Acting,
    subagent: &Subagent,
) -> Result<(), CommandError> {
    let mut handle = context.team(team)?;
    let roster = handle.read_manifest(ReadManifest {})?.manifest.roster;
    drop(handle);
    let mut workers = roster.workers.iter();
    let role = subagent.role();
    if workers.any(|worker| worker.name == acting.agent && worker.identity.role == role) {
        return Ok(());
    }
    let identity = WriteIdentity {
        worker: acting.agent.clone(),
        index: roster.next_worker_index,
        role: role.to_owned(),
        ..WriteIdentity::default()
    };
    let call: Call<WriteIdentity, _> = Call::operation();
    context.execute(&call, team, identity).map(drop)
}

/// Keeps a subagent from ending while the subagent holds tasks under its own name. A subagent is kept only once.
fn stopping(context: &mut Context, team: &str, acting: &Acting, told: &HookEvent) -> Outcome {
    if told.stop_hook_active || !acting.is_own(told.subagent.as_ref()) || context.is_remote() {
        return Ok(Exit::Done);
    }
    let agent = &acting.agent;
    let mut handle = context.team(team)?;
    let primed = handle.prime(&Prime {
        agent: agent.clone(),
        session: None,
    })?;
    let claims = primed.in_progress.items.iter();
    let claims = claims.filter(|task| !task.lease_expired);
    let held: Vec<(&str, u64)> = claims
        .filter_map(|task| Some((task.task_id.as_str(), task.epoch?)))
        .collect();
    if let Some((first, epoch)) = held.first() {
        let typed = |verb: &str| {
            let team = quoted(team);
            let first = quoted(first);
            context.command(&format!(
                "task {verb} {team} {first} --epoch {epoch} --worker {agent}"
            ))
        };
        let tasks: Vec<&str> = held.iter().map(|(task, _)| *task).collect();
        let reason = format!(
            "{agent} still holds {} {}. Finish each, or give it back: `{}`, `{}`.",
            if tasks.len() == 1 { "task" } else { "tasks" },
            tasks.join(", "),
            typed("complete"),
            typed("release")
        );
        context.out.json(&StopAnswer::new(reason))?;
    }
    context.done(handle, Exit::Done)
}
