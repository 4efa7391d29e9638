//! Sets up a team in one call: members, roles, models and token budget.

use crate::operation::prelude::*;
use crate::projections::worker::event::{Identity, UNREGISTERED_ROLE, WorkerAct};
use crate::usage::report::SetBudget;

/// Maximum number of agents in one call.
pub const AGENTS_MAX: usize = 256;

/// Role of an agent without a recorded role.
pub const ROLE: &str = UNREGISTERED_ROLE;

/// Configuration of a team. Absent fields stay unchanged, and no agent is removed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TeamSetup {
    /// Members
    #[serde(default)]
    pub agents: Vec<AgentSetup>,
    /// Token budget
    #[serde(default)]
    pub budget: Option<SetBudget>,
}

/// A member and its role.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentSetup {
    /// Name of the agent
    pub id: String,
    /// Role of the agent
    pub role: Option<String>,
    /// Language model of the agent
    pub model: Option<String>,
}

/// Answer of a setup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TeamSetupAnswer {
    /// The team
    pub team: String,
    /// Names of the agents in the call
    pub agents: Vec<String>,
}

impl Team {
    /// Sets the team up.
    pub fn set_up(&mut self, setup: TeamSetup) -> Result<TeamSetupAnswer> {
        self.execute(setup)
    }
}

impl Command for TeamSetup {
    type Decided = ();
    type Answer = TeamSetupAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone).members_only()
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<()>> {
        let mut events = self.joining(live)?;
        events.extend(self.identities(live)?);
        if let Some(budget) = &self.budget
            && let Decision::Granted((), set) = budget.decide(ctx, live)?
        {
            let before = events.len();
            events.extend(set.into_iter().map(|event| shift_cause(event, before)));
        }
        Ok(Decision::Granted((), events))
    }

    fn answer(&self, (): &(), after: &After<'_>) -> Result<TeamSetupAnswer> {
        let agents = self.agents.iter().map(|agent| agent.id.clone());
        Ok(TeamSetupAnswer {
            team: after.team.to_owned(),
            agents: agents.collect(),
        })
    }
}

impl TeamSetup {
    /// Returns an event that adds all agents that are not members yet.
    fn joining(&self, live: &Live) -> Result<Vec<NewEvent>> {
        if self.agents.len() > AGENTS_MAX {
            let message = format!("at most {AGENTS_MAX} agents can be given in one call");
            return Err(Refusal::new(Code::TooLarge, message).field("agents").into());
        }
        let mut members: Vec<String> = Vec::new();
        for agent in &self.agents {
            names::check_known("agents", &agent.id)?;
            let known = agent.id == LEADER || live.is_member(&agent.id)?;
            if !known && !members.contains(&agent.id) {
                names::check_new("agents", &agent.id)?;
                members.push(agent.id.clone());
            }
        }
        Ok(match members.is_empty() {
            true => Vec::new(),
            false => vec![TeamFact::MembersAdded(MembersAdded { members }).event(DEFAULT_ACTOR)],
        })
    }

    /// Returns the events that record changed roles and models.
    fn identities(&self, live: &Live) -> Result<Vec<NewEvent>> {
        let mut events = Vec::new();
        for (index, agent) in (1..).zip(&self.agents) {
            let known = live.identity(&agent.id)?.map(|noted| noted.what);
            let before = known.unwrap_or_else(|| Identity::unregistered(index, ROLE));
            let after = agent.identity(before.clone())?;
            if before == after {
                continue;
            }
            if agent.id == LEADER {
                let message = format!(
                    "role and model of {LEADER:?} cannot be changed: it is the leader of every team"
                );
                let refusal = Refusal::new(Code::InvalidInput, message);
                return Err(refusal.field("agents").into());
            }
            events.push(WorkerAct::Identity(after).event(&agent.id, &agent.id));
        }
        Ok(events)
    }
}

impl AgentSetup {
    /// Merges the setup of an agent into the recorded identity of that agent.
    fn identity(&self, known: Identity) -> Result<Identity> {
        let given = |field, text: &Option<String>| -> Result<Option<String>> {
            let text = text.as_deref().map(|text| names::filled(field, text));
            Ok(text.transpose()?.map(str::to_owned))
        };
        Ok(Identity {
            role: given("role", &self.role)?.unwrap_or(known.role),
            model: given("model", &self.model)?.or(known.model),
            ..known
        })
    }
}

/// Shifts the index of an event's cause by the number of events that precede the event in the group.
fn shift_cause(mut event: NewEvent, before: usize) -> NewEvent {
    if let Some(Cause::Earlier(at)) = &mut event.cause {
        *at += before;
    }
    event
}
