//! Membership: the agents that may act and receive. A closed team has only its members. In an open team an agent becomes a
//! member by acting.

use crate::command::authority::is_leader;
use crate::prelude::*;

/// Maximum number of agents that a refusal lists.
const LISTED_MAX: usize = 100;
/// Maximum number of renamings that a recipient follows.
const RENAMED_MAX: usize = 16;

/// Checks that an agent may act in the team and receive messages. Refuses retired agents.
pub(crate) fn check(live: &Live, field: &'static str, agent: &str) -> Result<()> {
    check_active(live, field, agent)?;
    belongs(live, field, agent)
}

/// Checks that an agent may change the team. Refuses an agent that does not belong to a team with fixed members. The leader, and a
/// caller without an agent's name, always pass.
pub(crate) fn check_acting(live: &Live, agent: &str) -> Result<()> {
    if agent == DEFAULT_ACTOR || live.is_member(agent)? || is_leader(live, agent)? {
        return Ok(());
    }
    match live.team()? {
        Some(team) if !team.open => Err(stranger("actor", agent, live.members()?).into()),
        _ => Ok(()),
    }
}

/// Checks that an agent was not retired. An agent that is not a member passes.
pub(crate) fn check_active(live: &Live, field: &'static str, agent: &str) -> Result<()> {
    match live.is_retired(agent)? {
        true => {
            let last = recipient(live, agent)?;
            let successor = (last != agent && !live.is_retired(&last)?).then_some(last);
            Err(retired(field, agent, successor).into())
        }
        false => Ok(()),
    }
}

/// Checks that an agent belongs to the team, or is a retired agent of the team. Used for reading the agent's mail.
pub(crate) fn check_known(live: &Live, field: &'static str, agent: &str) -> Result<()> {
    match live.is_retired(agent)? {
        true => Ok(()),
        false => belongs(live, field, agent),
    }
}

/// Returns the recipient of mail to `agent`: the new name if the agent was renamed, else `agent`.
pub(crate) fn recipient(live: &Live, agent: &str) -> Result<String> {
    let mut recipient = agent.to_owned();
    for _ in 0..RENAMED_MAX {
        match live.successor(&recipient)? {
            Some(successor) => recipient = successor,
            None => break,
        }
    }
    Ok(recipient)
}

fn belongs(live: &Live, field: &'static str, agent: &str) -> Result<()> {
    names::check_known(field, agent)?;
    if agent == LEADER || live.is_member(agent)? {
        return Ok(());
    }
    match live.team()? {
        Some(team) if !team.open => Err(stranger(field, agent, live.members()?).into()),
        _ => Ok(names::check_new(field, agent)?),
    }
}

/// Returns the event that adds an acting agent to an open team; `None` if the agent is a member or
/// cannot join.
pub(crate) fn joining(live: &Live, agent: &str) -> Result<Option<NewEvent>> {
    let is_closed = live.team()?.is_none_or(|team| !team.open);
    if agent == LEADER || is_closed || live.is_member(agent)? || live.is_retired(agent)? {
        return Ok(None);
    }
    let members = vec![agent.to_owned()];
    Ok(Some(
        TeamFact::MembersAdded(MembersAdded { members }).event(agent),
    ))
}

/// Checks that an agent may act in the team. Returns the event that adds the agent to the team; no
/// event if the agent is a member.
pub(crate) fn enter(live: &Live, field: &'static str, agent: &str) -> Result<Vec<NewEvent>> {
    check(live, field, agent)?;
    Ok(joining(live, agent)?.into_iter().collect())
}

/// Returns the agent that hears of a task: the agent that assigned the task, else the leader of the team. Skips an assigner that left
/// the team, and the agent `except`.
pub(crate) fn supervisor(live: &Live, task: &Task, except: &str) -> Result<String> {
    // A person without an agent's name receives no messages.
    let assigner = task.assigned_by.as_deref();
    if let Some(by) = assigner.filter(|by| names::check_known("to", by).is_ok()) {
        let by = recipient(live, by)?;
        if by != except && !live.is_retired(&by)? {
            return Ok(by);
        }
    }
    leader(live)
}

/// Returns the agent that gets messages to the leader: the agent that created the team, else a member that is named as a leader,
/// else the fixed leader.
pub(crate) fn leader(live: &Live) -> Result<String> {
    match live.team()?.and_then(|team| team.leader) {
        Some(leader) => Ok(leader),
        None => named_leader(live, None),
    }
}

/// Returns the leader after `agent` leaves the team, if `agent` is the leader now. A successor leads in its place.
pub(crate) fn next_leader(
    live: &Live,
    agent: &str,
    successor: Option<&str>,
) -> Result<Option<String>> {
    if leader(live)? != agent {
        return Ok(None);
    }
    match successor {
        Some(successor) => Ok(Some(successor.to_owned())),
        None => named_leader(live, Some(agent)).map(Some),
    }
}

/// Returns a member that is named as a leader, without the agent `except`, else the fixed leader.
fn named_leader(live: &Live, except: Option<&str>) -> Result<String> {
    for name in names::LEADERS {
        if except != Some(name) && live.is_member(name)? {
            return Ok(name.to_owned());
        }
    }
    Ok(LEADER.to_owned())
}

/// Returns the workers of a team: all members except the leader, sorted.
pub(crate) fn workers(live: &Live) -> Result<Vec<String>> {
    let mut members = live.members()?;
    members.retain(|member| member != LEADER);
    Ok(members)
}

fn retired(field: &'static str, agent: &str, successor: Option<String>) -> Refusal {
    let refusal = |message: String, hint: String| {
        let refusal = Refusal::new(Code::WorkerNotFound, message).field(field);
        refusal.hint(hint).detail("retired", true)
    };
    match successor {
        // Without the detail `worker`, because adding the old name again would not help.
        Some(new) => refusal(
            format!("{field} {agent:?} was renamed to {new:?}"),
            format!("use the new name {new}"),
        )
        .detail("successor", new),
        None => refusal(
            format!("{field} {agent:?} was retired from this team"),
            "name another agent".to_owned(),
        )
        .detail("worker", agent),
    }
}

fn stranger(field: &'static str, agent: &str, members: Vec<String>) -> Refusal {
    let meant = spelling::meant(agent, members.iter().map(String::as_str));
    let meant = meant.map(str::to_owned);
    let listed = members.len().min(LISTED_MAX);
    let rest = members.len() - listed;
    let known: Vec<String> = members.into_iter().take(LISTED_MAX).collect();
    let mut hint = match known.is_empty() {
        true => "the team has no members".to_owned(),
        false => format!("known agents: {}", known.join(", ")),
    };
    if let Some(meant) = &meant {
        hint = format!("did you mean {meant}? {hint}");
    }
    if rest > 0 {
        hint.push_str(&format!(" and {rest} more"));
    }
    let message = format!("{field} {agent:?} is not a member of this team");
    let refusal = Refusal::new(Code::WorkerNotFound, message)
        .field(field)
        .hint(hint)
        .detail("worker", agent)
        .detail("known", known);
    match meant {
        Some(meant) => refusal.detail("nearest", meant),
        None => refusal,
    }
}

/// Returns a warning if a name is unknown in the team: not a member, never active, without mail, never asked to shut down.
pub(crate) fn unknown_warning(live: &Live, agent: &str) -> Result<Option<String>> {
    if agent == LEADER
        || live.is_member(agent)?
        || live.agent(agent)?.received > 0
        || live.activity(agent)?.is_some()
        || live.shutdown_request(agent)?.is_some()
    {
        return Ok(None);
    }
    let members = live.members()?;
    let names = members.iter().map(String::as_str).chain([LEADER]);
    let meant = spelling::meant(agent, names);
    Ok(Some(unknown_name("worker", agent, meant)))
}

/// Returns a sentence such as `there is no worker "dve"; did you mean dev?`.
pub(crate) fn unknown_name(what: &str, name: &str, meant: Option<&str>) -> String {
    let meant = meant.map(|meant| format!("; did you mean {meant}?"));
    let meant = meant.unwrap_or_default();
    format!("there is no {what} {}{meant}", shown(name))
}
