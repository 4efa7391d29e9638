//! Who asks, and how far that lets them: whoever presents a token or a page session, of one team or of the whole root.

use crate::token::Digest;
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;
use teamlog_team::engine::Timestamp;
use teamlog_team::handle::root::Authenticated;
use teamlog_team::projections::agent_token::event::AgentScope;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Whose log may be asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// That team's.
    Team(String),
    /// That of every team that is served.
    Root,
}

impl Reach {
    /// The one team that it is.
    pub fn team(&self) -> Option<&str> {
        match self {
            Reach::Team(team) => Some(team),
            Reach::Root => None,
        }
    }
}

/// What may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// What changes nothing.
    Read,
    /// Everything.
    Act,
}

impl Scope {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Read => "read",
            Scope::Act => "act",
        }
    }

    /// The one of that name.
    pub fn of_name(name: &str) -> Option<Scope> {
        [Scope::Read, Scope::Act]
            .into_iter()
            .find(|scope| scope.name() == name)
    }
}

/// What was presented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credential {
    /// A token of `runtime.json`, or of an agent.
    Token,
    /// A page session.
    PageSession(Digest),
    /// A one-time code, which lets nobody in but to trade it for a page session.
    Code(Digest),
}

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Whose log may be asked about.
    pub reach: Reach,
    /// What may be asked.
    pub scope: Scope,
    /// What was presented.
    pub credential: Credential,
    /// Until when that is good, where it has an end of its own.
    pub until: Option<Timestamp>,
    /// Which agent it is, and how far its token lets it; nothing of those who are let in for all agents.
    pub agent: Option<Agent>,
}

/// An agent that presented its token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// Its name.
    pub name: String,
    /// How far it is let in.
    pub scope: AgentScope,
}

impl Agent {
    /// Why its token does not let it do what needs that scope; nothing where it does.
    pub fn lacks(&self, wanted: AgentScope) -> Option<String> {
        let (name, scope, needed) = (&self.name, self.scope.name(), wanted.name());
        let lacks =
            || format!("the token of {name} must be of scope {needed}, but is of scope {scope}");
        (self.scope < wanted).then(lacks)
    }
}

impl Caller {
    /// Whoever presents a token.
    pub fn with_token(reach: Reach) -> Caller {
        Caller {
            reach,
            scope: Scope::Act,
            credential: Credential::Token,
            until: None,
            agent: None,
        }
    }

    /// An agent that presents its token.
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

    /// The agent that it proved to be, for the team's own checks.
    pub fn authenticated(&self) -> Option<Authenticated> {
        let agent = self.agent.as_ref()?.name.clone();
        let team = self.reach.team()?.to_owned();
        Some(Authenticated { team, agent })
    }
}

/// Who is let in.
#[derive(Debug, Clone)]
pub(crate) struct Admitted {
    pub caller: Caller,
    /// Ends when what was presented is worth nothing any more.
    pub revoked: CancellationToken,
    /// Commands that an agent's token may have carried out at a time.
    pub places: Option<Arc<Semaphore>>,
}

impl Admitted {
    pub fn of(caller: Caller, revoked: CancellationToken) -> Admitted {
        Admitted {
            caller,
            revoked,
            places: None,
        }
    }
}
