//! The callers that may run a command. `handle/authorize.rs` checks them before every decision.
//!
//! Each command declares its [`CommandTerms`]. The trait has no default, so a forgotten declaration permits nothing.

use crate::prelude::*;

/// The preconditions of a command, independent of its decision.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CommandTerms<'a> {
    /// Callers that may run the command.
    pub authority: Authority<'a>,
    /// True if the command may run in a closed team.
    pub when_closed: bool,
    /// True if the answer contains a claim on the task. A stored answer is then repeated only while that claim is live.
    pub grants: bool,
    /// True if the leader is the actor of the events when the input names no agent.
    pub led: bool,
    /// True if the input names the acting agent. If the input of a command names no agent, the actor of the command's events is the
    /// holder or the leader.
    pub names_actor: bool,
    /// True if only members, the leader and callers without an agent's name may run the command in a team with fixed members.
    pub members_only: bool,
}

/// Callers that may run a command.
///
/// In each variant, the events may name only the authenticated agent as actor (`Control::check_actor`).
#[derive(Debug, Clone, Copy)]
pub(crate) enum Authority<'a> {
    /// Any caller that the surface admits.
    Anyone,
    /// Any caller, as long as no hard budget is spent.
    WithinBudget,
    /// The agent that the command acts for.
    Agent(&'a str),
    /// The holder of the presented claim.
    Holder(ClaimProof<'a>),
    /// The holder of the presented claim. With force also a caller that may use force and presents the claim, and the leader without
    /// the claim.
    HolderOrLeader(ClaimProof<'a>),
}

/// The caller of a command, if known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Actor<'a> {
    /// Name of the acting agent, whether claimed or authenticated.
    pub name: Option<&'a str>,
    /// True if the name is authenticated.
    pub authenticated: bool,
}

impl Actor<'_> {
    /// Returns true for the leader and for a caller without an agent's name. They may end the approval that a task requires, and
    /// cancel a task without its claim. `named` is the agent that the input names.
    pub fn leads(self, live: &Live, named: Option<&str>) -> Result<bool> {
        let name = self.name.or(named);
        name.map_or(Ok(true), |name| is_leader(live, name))
    }
    /// Returns true if the caller may act on a claim of another agent with force, which the log records: any caller without
    /// authentication, and the leader.
    pub fn may_force(self, live: &Live, named: Option<&str>) -> Result<bool> {
        Ok(!self.authenticated || self.leads(live, named)?)
    }
}

/// Returns true if an agent leads the team: the fixed leader, the agent that created the team, or an agent named `lead` or
/// `leader`.
pub(crate) fn is_leader(live: &Live, agent: &str) -> Result<bool> {
    if agent == LEADER || names::LEADERS.contains(&agent) {
        return Ok(true);
    }
    let leader = live.team()?.and_then(|team| team.leader);
    Ok(leader.as_deref() == Some(agent))
}

impl<'a> Authority<'a> {
    /// Returns the authority for the agent that the input names; `Anyone` if the input names no agent.
    pub fn of_named(agent: Option<&'a str>) -> Authority<'a> {
        agent.map_or(Authority::Anyone, Authority::Agent)
    }
}

impl<'a> CommandTerms<'a> {
    /// Creates terms with defaults: the team must be open, the answer contains no claim, and the input names the actor.
    pub fn new(authority: Authority<'a>) -> CommandTerms<'a> {
        CommandTerms {
            authority,
            when_closed: false,
            grants: false,
            led: false,
            names_actor: true,
            members_only: false,
        }
    }

    /// Refuses agents that do not belong to the team, if the members of the team are fixed.
    pub fn members_only(self) -> CommandTerms<'a> {
        CommandTerms {
            members_only: true,
            ..self
        }
    }

    /// Allows the command in a closed team too.
    pub fn when_closed(self) -> CommandTerms<'a> {
        CommandTerms {
            when_closed: true,
            ..self
        }
    }

    /// Declares that the answer contains a claim.
    pub fn grants(self) -> CommandTerms<'a> {
        CommandTerms {
            grants: true,
            ..self
        }
    }

    /// Makes the leader the actor of the events if the input names no agent.
    pub fn led(self) -> CommandTerms<'a> {
        CommandTerms { led: true, ..self }
    }

    /// Sets [`CommandTerms::names_actor`].
    pub fn named(self, names_actor: bool) -> CommandTerms<'a> {
        CommandTerms {
            names_actor,
            ..self
        }
    }
}

/// A claim that a command presents. If the command presents both a token and an epoch, both must be
/// right.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClaimProof<'a> {
    pub task_id: &'a str,
    pub token: Option<&'a str>,
    /// Fencing epoch of the claim.
    pub epoch: Option<u64>,
    /// True if the command accepts a claim of another agent. The token or epoch must be right in any case.
    pub force: bool,
    /// The agent that presents the claim, if the command names one.
    pub worker: Option<&'a str>,
}
