//! Doubts about names in a command: agents that never acted or that stopped, and unknown tasks. Each kind of doubt has one
//! function here. All answers and `attention` use these functions.

use crate::membership;
use crate::prelude::*;
use crate::projections::worker::event::AckStatus;

/// Maximum number of task ids that are compared with a new id.
const COMPARED_MAX: usize = 1_000;
/// Maximum number of known agents that an answer lists.
const LISTED_MAX: usize = 20;

/// Doubts about the recipient and the sender of a message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecipientDoubts {
    /// Sentence that lists the known agents, if the recipient never acted in the team; else absent
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipient_unknown: Option<String>,
    /// Time at which the recipient stopped; absent if the recipient has acted since
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipient_gone: Option<Timestamp>,
    /// Known agent whose name equals a new sender's name except for case, `_` and `-`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_resembles: Option<String>,
}

/// Doubts about several recipients.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecipientsDoubts {
    /// For each recipient that never acted in the team, a sentence that lists the known agents
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recipients_unknown: Vec<String>,
    /// The recipients that stopped and have not acted since
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recipients_gone: Vec<GoneAgent>,
}

/// An agent that stopped
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GoneAgent {
    /// Name of the agent
    pub agent: String,
    /// Time at which the agent stopped
    pub at: Timestamp,
}

/// Doubts about the names in a task.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskDoubts {
    /// Dependencies that do not exist as tasks
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_deps: Vec<String>,
    /// Sentence that lists the known agents, if the owner never acted in the team; else absent
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_unknown: Option<String>,
    /// Time at which the owner stopped; absent if the owner has acted since
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_gone: Option<Timestamp>,
}

impl RecipientDoubts {
    /// Checks the recipient and the sender of a message before the message is recorded.
    pub(crate) fn find(live: &Live, to: &str, from: &str) -> Result<RecipientDoubts> {
        Ok(RecipientDoubts {
            sender_resembles: resembled(live, from)?,
            ..RecipientDoubts::of_recipient(live, to, from)?
        })
    }

    /// Checks only the recipient of a message, for a sender that need not be an agent.
    pub(crate) fn of_recipient(live: &Live, to: &str, from: &str) -> Result<RecipientDoubts> {
        Ok(RecipientDoubts {
            recipient_unknown: unknown_agent(live, to, from)?,
            recipient_gone: gone_since(live, to)?,
            sender_resembles: None,
        })
    }
}

impl RecipientsDoubts {
    /// Checks the recipients of a message or post before the message or post is recorded.
    pub(crate) fn find(live: &Live, told: &[String], from: &str) -> Result<RecipientsDoubts> {
        let mut doubts = RecipientsDoubts::default();
        for agent in told {
            doubts
                .recipients_unknown
                .extend(unknown_agent(live, agent, from)?);
            let gone = gone_since(live, agent)?.map(|at| GoneAgent {
                agent: agent.clone(),
                at,
            });
            doubts.recipients_gone.extend(gone);
        }
        Ok(doubts)
    }
}

impl TaskDoubts {
    /// Checks the dependencies and the owner of a task in a command.
    pub(crate) fn find(live: &Live, deps: &[String], owner: Option<&str>) -> Result<TaskDoubts> {
        let mut doubts = TaskDoubts {
            unknown_deps: unknown_deps(live, deps)?,
            ..TaskDoubts::default()
        };
        if let Some(owner) = owner {
            doubts.owner_unknown = unknown_agent(live, owner, "")?;
            doubts.owner_gone = gone_since(live, owner)?;
        }
        Ok(doubts)
    }
}

/// Returns the dependencies that do not exist as tasks, without duplicates.
pub(crate) fn unknown_deps(live: &Live, deps: &[String]) -> Result<Vec<String>> {
    let mut unknown: Vec<String> = Vec::new();
    for dep in deps {
        if !unknown.contains(dep) && live.task(dep)?.is_none() {
            unknown.push(dep.clone());
        }
    }
    Ok(unknown)
}

/// Returns the existing task id that is most similar to a new id.
pub(crate) fn similar_task(live: &Live, id: &str) -> Result<Option<String>> {
    let page = live.tasks(&TaskFilter::default(), None, COMPARED_MAX)?;
    let known = page.tasks.iter().map(|task| task.task_id.as_str());
    // Leaves out numeric ids: any two of them are similar.
    let known = known.filter(|known| known.parse::<u64>().is_err());
    Ok(spelling::meant(id, known).map(str::to_owned))
}

/// Returns a sentence if an agent is not a member, never acted and never received anything. Returns `None` if the team knows
/// no agent except `other`.
pub(crate) fn unknown_agent(live: &Live, agent: &str, other: &str) -> Result<Option<String>> {
    match membership::unknown_warning(live, agent)? {
        Some(_) => never_acted(live, agent, other),
        None => Ok(None),
    }
}

/// Returns a sentence if an agent is not a member and never acted, even if it got mail. Returns `None` if the team knows no agent except
/// `other`.
pub(crate) fn never_acted(live: &Live, agent: &str, other: &str) -> Result<Option<String>> {
    if agent == LEADER || live.is_member(agent)? || live.activity(agent)?.is_some() {
        return Ok(None);
    }
    let mut known = live.members()?;
    known.retain(|name| name != other);
    if known.is_empty() {
        return Ok(None);
    }
    let meant = spelling::meant(agent, known.iter().map(String::as_str));
    let meant = meant.map(|meant| format!(" (did you mean {meant}?)"));
    let more = known.len().saturating_sub(LISTED_MAX);
    known.truncate(LISTED_MAX);
    let more = match more {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Ok(Some(format!(
        "{} has never acted in this team{}; known agents: {}{more}",
        shown(agent),
        meant.unwrap_or_default(),
        known.join(", ")
    )))
}

/// Returns the member whose name equals a new agent's name except for case, `_` and `-`.
pub(crate) fn resembled(live: &Live, agent: &str) -> Result<Option<String>> {
    if agent == LEADER || live.is_member(agent)? || live.activity(agent)?.is_some() {
        return Ok(None);
    }
    let members = live.members()?;
    let near = spelling::nearest(agent, members.iter().map(String::as_str));
    let same = near.filter(|(_, letters)| *letters == 0);
    Ok(same.map(|(name, _)| name.to_owned()))
}

/// Returns the time at which an agent stopped: the time of its accepted shutdown, or of a last heartbeat with "not alive". Returns
/// `None` if the agent did not stop, or has acted since then.
pub(crate) fn gone_since(live: &Live, agent: &str) -> Result<Option<Timestamp>> {
    let ack = live.shutdown_ack(agent)?;
    let ack = ack.filter(|ack| ack.what.status == AckStatus::Accept);
    let beat = live.heartbeat(agent)?.filter(|beat| !beat.what.alive);
    let stops = [
        ack.map(|ack| (ack.seq, ack.at)),
        beat.map(|beat| (beat.seq, beat.at)),
    ];
    let Some((seq, at)) = stops.into_iter().flatten().max() else {
        return Ok(None);
    };
    let is_last = live.activity(agent)?.is_none_or(|last| last.seq <= seq);
    Ok(is_last.then_some(at))
}
