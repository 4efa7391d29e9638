//! The authenticated caller and its rights. A token or a page session gives access to one team or to the whole root.

use crate::token::Digest;
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;
use teamlog_team::engine::Timestamp;
use teamlog_team::handle::root::Authenticated;
use teamlog_team::projections::agent_token::event::AgentScope;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Teams to which a caller has access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// One team.
    Team(String),
    /// Every served team.
    Root,
}

impl Reach {
    /// Returns the team if access is limited to one team.
    pub fn team(&self) -> Option<&str> {
        match self {
            Reach::Team(team) => Some(team),
            Reach::Root => None,
        }
    }
}

/// Operations that a caller may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Operations that only read.
    Read,
    /// All operations.
    Act,
}

impl Scope {
    /// Returns the name of the scope, `read` or `act`.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Read => "read",
            Scope::Act => "act",
        }
    }

    /// Returns the scope with this name.
    pub fn from_name(name: &str) -> Option<Scope> {
        [Scope::Read, Scope::Act]
            .into_iter()
            .find(|scope| scope.name() == name)
    }
}

/// Kind of credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credential {
    /// A token of `runtime.json`, or an agent's token.
    Token,
    /// A page session.
    PageSession(Digest),
    /// A one-time code, which can only be traded for a page session.
    Code(Digest),
}

/// The caller of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Teams to which the caller has access.
    pub reach: Reach,
    /// Operations that the caller may use.
    pub scope: Scope,
    /// Credential of the caller.
    pub credential: Credential,
    /// Time at which the credential expires, if it expires.
    pub until: Option<Timestamp>,
    /// Agent and scope of an agent's token. `None` for other credentials.
    pub agent: Option<Agent>,
}

/// An agent authenticated by its token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// Name of the agent.
    pub name: String,
    /// Scope of the token.
    pub scope: AgentScope,
}

impl Agent {
    /// Returns the reason why the token does not allow an operation that needs the scope `wanted`. Returns `None` if
    /// the token allows the operation.
    pub fn lacks(&self, wanted: AgentScope) -> Option<String> {
        let (name, scope, needed) = (&self.name, self.scope.name(), wanted.name());
        let lacks =
            || format!("the token of {name} has the scope {scope}; this needs the scope {needed}");
        (self.scope < wanted).then(lacks)
    }
}

impl Caller {
    /// Makes the caller for a token of `runtime.json`.
    pub fn with_token(reach: Reach) -> Caller {
        Caller {
            reach,
            scope: Scope::Act,
            credential: Credential::Token,
            until: None,
            agent: None,
        }
    }

    /// Makes the caller for an agent's token.
    pub fn with_agent_token(team: &str, agent: Agent) -> Caller {
        let scope = match agent.scope {
            AgentScope::Read => Scope::Read,
            AgentScope::Act | AgentScope::Operate => Scope::Act,
        };
        Caller {
            scope,
            agent: Some(agent),
            ..Caller::with_token(Reach::Team(team.to_owned()))
        }
    }

    /// Returns the authenticated agent, which the team API checks.
    pub fn authenticated(&self) -> Option<Authenticated> {
        let agent = self.agent.as_ref()?.name.clone();
        let team = self.reach.team()?.to_owned();
        Some(Authenticated { team, agent })
    }
}

/// A caller with the limits of its credential.
#[derive(Debug, Clone)]
pub(crate) struct Admitted {
    pub caller: Caller,
    /// Canceled when the credential becomes invalid.
    pub revoked: CancellationToken,
    /// Permits for concurrent commands. `None` for a credential that is not an agent's token.
    pub places: Option<Arc<Semaphore>>,
}

impl Admitted {
    pub fn new(caller: Caller, revoked: CancellationToken) -> Admitted {
        Admitted {
            caller,
            revoked,
            places: None,
        }
    }
}
