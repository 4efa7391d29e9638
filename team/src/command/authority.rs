//! The callers that a command permits: which agents may have it carried out. `handle/authorize.rs` checks it before every
//! decision.
//!
//! Each command states its [`CommandTerms`]; the trait has no default for them, so that no new command is let through by
//! omission.

/// The rules that hold for a command, whatever it decides.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CommandTerms<'a> {
    /// Which agents may have it carried out.
    pub authority: Authority<'a>,
    /// True if the command may run in a closed team.
    pub when_closed: bool,
    /// True if the answer hands out a claim on the task that it shows. A stored answer is repeated while that claim lives.
    pub grants: bool,
    /// True if the events are the leader's when the input names no agent.
    pub led: bool,
    /// True if the input names the agent that acts. If not, some commands record the holder or the leader.
    pub names_actor: bool,
}

/// Which agents may have a command carried out.
///
/// In each case the events of a command name no other agent than the authenticated one (`Control::check_actor`).
#[derive(Debug, Clone, Copy)]
pub(crate) enum Authority<'a> {
    /// Every agent that the surface lets in.
    Anyone,
    /// Every agent, until a hard budget is used up.
    WithinBudget,
    /// The agent on whose behalf it happens.
    Agent(&'a str),
    /// The holder of the claim that is presented.
    Holder(ClaimProof<'a>),
    /// The holder of the claim that is presented, or the leader by force.
    HolderOrLeader(ClaimProof<'a>),
}

/// The caller of a command, as far as it is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Actor<'a> {
    /// The agent that acts, as the caller says or proved.
    pub name: Option<&'a str>,
    /// True if the caller proved to be that agent.
    pub authenticated: bool,
}

impl<'a> Authority<'a> {
    /// Returns the authority of the agent that the input names; `Anyone` if it names none.
    pub fn of_named(agent: Option<&'a str>) -> Authority<'a> {
        agent.map_or(Authority::Anyone, Authority::Agent)
    }
}

impl<'a> CommandTerms<'a> {
    /// The terms of a command that needs an open team, hands out no claim, and names its actor in the input.
    pub fn of(authority: Authority<'a>) -> CommandTerms<'a> {
        CommandTerms {
            authority,
            when_closed: false,
            grants: false,
            led: false,
            names_actor: true,
        }
    }

    /// Allows the command in a closed team too.
    pub fn when_closed(self) -> CommandTerms<'a> {
        CommandTerms {
            when_closed: true,
            ..self
        }
    }

    /// Marks the command as one whose answer hands out a claim.
    pub fn grants(self) -> CommandTerms<'a> {
        CommandTerms {
            grants: true,
            ..self
        }
    }

    /// Makes the command the leader's if the input names no agent.
    pub fn led(self) -> CommandTerms<'a> {
        CommandTerms { led: true, ..self }
    }

    /// Sets whether the input names the agent that acts.
    pub fn named(self, names_actor: bool) -> CommandTerms<'a> {
        CommandTerms {
            names_actor,
            ..self
        }
    }
}

/// A claim as a command presents it. If both a token and an epoch are given, both must be right.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClaimProof<'a> {
    pub task_id: &'a str,
    pub token: Option<&'a str>,
    /// The number of the claim.
    pub epoch: Option<u64>,
    /// True if the claim need not be the caller's own. What is presented must be right all the same.
    pub force: bool,
    /// The agent that presents the claim, if the command names it.
    pub worker: Option<&'a str>,
}
