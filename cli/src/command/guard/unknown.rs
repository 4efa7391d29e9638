//! Answers tool calls whose effect the guard does not know, and proposes a setting that allows them.

use super::leases::Leases;
use super::{Args, Decision, programs};
use crate::agents::Agent;
use crate::agents::guard_hook::OnUnknown;
use crate::agents::subagent::Subagent;
use crate::command::prelude::*;
use teamlog_guard::{Call, Place, Unknown, Writes};
use teamlog_team::projections::task::HeldResources;
use teamlog_team::projections::team::settings::Setting;
use teamlog_team::resource::can_write::{GuardRules, UnknownWrites};

/// Answers a call with unknown effects. `team` is `None` if the guard found no team.
pub(super) fn decide(
    args: &Args,
    context: &Context,
    (call, place, writes): (&Call, &Place, &Writes),
    (mut team, subagent): (Option<&mut (Leases, GuardRules)>, Option<&Subagent>),
) -> Result<Decision, CommandError> {
    let (answer, holder) = answer(args, context, writes, (team.as_deref_mut(), subagent))?;
    let message = message(writes, holder.as_ref());
    let hint = team.and_then(|(team, rules)| {
        let known = known_with(rules, writes)?;
        let settled = call.writes(place, &programs(&known)).unknown().is_empty();
        let line = format!(
            "config set {} guard.known {}",
            quoted(team.team()),
            quoted(&known)
        );
        settled.then(|| {
            format!(
                "to allow it always, a person types: {}",
                context.command(&line)
            )
        })
    });
    match answer {
        OnUnknown::Allow | OnUnknown::AllowWhenFree => Ok(Decision::Allow),
        OnUnknown::Ask => {
            let why = [Some(message), hint];
            let why: Vec<String> = why.into_iter().flatten().collect();
            Ok(Decision::Ask(call.form, why.join("\n")))
        }
        OnUnknown::Deny => {
            let error = super::denied(&format!("blocked: {message}"));
            Err(match hint {
                Some(hint) => error.or_hint(hint),
                None if is_own(writes) => error.or_hint("ask a person to run this command"),
                None => error,
            })
        }
    }
}

/// Returns the answer. Also returns the claimed task that blocks the call, if there is a blocking task.
fn answer(
    args: &Args,
    context: &Context,
    writes: &Writes,
    (team, subagent): (Option<&mut (Leases, GuardRules)>, Option<&Subagent>),
) -> Result<(OnUnknown, Option<HeldResources>), CommandError> {
    let of_team = team.as_deref().map(|(_, rules)| match rules.unknown {
        UnknownWrites::Ask => OnUnknown::Ask,
        UnknownWrites::Deny => OnUnknown::Deny,
        UnknownWrites::AllowWhenFree => OnUnknown::AllowWhenFree,
    });
    let mut answer = args.on_unknown.or(of_team).unwrap_or(OnUnknown::Ask);
    let mut holder = None;
    if answer == OnUnknown::AllowWhenFree {
        let mut free = false;
        // If the call runs a teamlog command, `free` stays false, because the command may change the guard's settings.
        if let Some((team, _)) = team
            && !is_own(writes)
            && !team.is_stale()?
        {
            // If the agent is unknown, every holder of a path counts as another agent.
            let acting = team.acting(context, &args.who, subagent).ok();
            let own = acting.iter().flat_map(|acting| acting.names());
            holder = team.held_by_others(&own.collect::<Vec<_>>())?;
            free = holder.is_none();
        }
        if !free {
            answer = OnUnknown::Ask;
        }
    }
    if answer == OnUnknown::Ask && args.client == Some(Agent::Codex) {
        answer = OnUnknown::Deny;
    }
    Ok((answer, holder))
}

/// Returns true if a teamlog command causes one of the unknown effects.
fn is_own(writes: &Writes) -> bool {
    writes.unknown().iter().any(|part| part.own)
}

fn message(writes: &Writes, holder: Option<&HeldResources>) -> String {
    let mut reasons = writes.unknown().iter().map(reason);
    let mut message = reasons.next().unwrap_or_default();
    match reasons.len() {
        0 => {}
        more => message.push_str(&format!(" (and {more} more)")),
    }
    if let Some(held) = holder {
        message.push_str(&format!(
            ", and {} holds {} for task {} until {}",
            held.holder,
            held.resources.join(", "),
            held.task_id,
            held.leased_until
        ));
    }
    message
}

fn reason(part: &Unknown) -> String {
    match part.why.starts_with("cannot tell ") {
        true => part.why.clone(),
        false => format!("cannot tell which files this writes: {}", part.why),
    }
}

/// Returns the value of `guard.known` extended by the unknown programs, or `None` if a program cannot be an entry.
fn known_with(rules: &GuardRules, writes: &Writes) -> Option<String> {
    let mut entries: Vec<&str> = rules.known.split(", ").collect();
    entries.retain(|entry| !entry.is_empty());
    for part in writes.unknown() {
        let entry = part.entry.as_deref()?;
        if !entries.contains(&entry) {
            entries.push(entry);
        }
    }
    // A command with a comma would become two entries.
    let whole = writes
        .unknown()
        .iter()
        .filter_map(|part| part.entry.as_ref());
    if whole.clone().any(|entry| entry.contains(',')) {
        return None;
    }
    let value = Setting::GuardKnown.parse(&entries.join(", ")).ok()?;
    Some(value.text().to_owned())
}
