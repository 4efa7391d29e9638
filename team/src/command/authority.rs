//! The callers that a command permits. `handle/authorize.rs` checks them before every decision.
//!
//! Each command states its [`CommandTerms`]; the trait has no default, so no new command is permitted by omission.

/// The preconditions of a command, independent of its decision.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CommandTerms<'a> {
    /// Callers that may run the command.
    pub authority: Authority<'a>,
    /// True if the command may run in a closed team.
    pub when_closed: bool,
    /// True if the answer hands out a claim on its task. A stored answer is repeated only while that claim lives.
    pub grants: bool,
    /// True if the events are recorded as the leader's when the input names no agent.
    pub led: bool,
    /// True if the input names the acting agent. If not, some commands record the holder or the leader.
    pub names_actor: bool,
}

/// Callers that may run a command.
///
/// In each case, the command's events may name no other agent than the authenticated one (`Control::check_actor`).
#[derive(Debug, Clone, Copy)]
pub(crate) enum Authority<'a> {
    /// Every caller that the surface admits.
    Anyone,
    /// Every caller, until a hard budget is used up.
    WithinBudget,
    /// The agent on whose behalf the command runs.
    Agent(&'a str),
    /// The holder of the presented claim.
    Holder(ClaimProof<'a>),
    /// The holder of the presented claim, or the leader with force.
    HolderOrLeader(ClaimProof<'a>),
}

/// The caller of a command, if known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Actor<'a> {
    /// Name of the acting agent, claimed or authenticated.
    pub name: Option<&'a str>,
    /// True if the name was authenticated.
    pub authenticated: bool,
}

impl<'a> Authority<'a> {
    /// Returns the authority of the agent that the input names; `Anyone` if it names none.
    pub fn of_named(agent: Option<&'a str>) -> Authority<'a> {
        agent.map_or(Authority::Anyone, Authority::Agent)
    }
}

impl<'a> CommandTerms<'a> {
    /// Creates the terms of a command that needs an open team, hands out no claim, and names its actor in the input.
    pub fn of(authority: Authority<'a>) -> CommandTerms<'a> {
        CommandTerms {
            authority,
            when_closed: false,
            grants: false,
            led: false,
            names_actor: true,
        }
    }

    /// Also allows the command in a closed team.
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

    /// Records the events as the leader's if the input names no agent.
    pub fn led(self) -> CommandTerms<'a> {
        CommandTerms { led: true, ..self }
    }

    /// Sets if the input names the acting agent.
    pub fn named(self, names_actor: bool) -> CommandTerms<'a> {
        CommandTerms {
            names_actor,
            ..self
        }
    }
}

/// A claim, as a command presents it. If both a token and an epoch are given, both must be right.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClaimProof<'a> {
    pub task_id: &'a str,
    pub token: Option<&'a str>,
    /// Fencing epoch of the claim.
    pub epoch: Option<u64>,
    /// True if the claim may be another agent's. The presented token and epoch must still be right.
    pub force: bool,
    /// The agent that presents the claim, if the command names one.
    pub worker: Option<&'a str>,
}
