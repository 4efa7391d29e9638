//! Setting a team up: who is in it, what for, and how many tokens it may use, all at once.

use crate::operation::prelude::*;
use crate::projections::worker::event::{Identity, UNREGISTERED_ROLE, WorkerAct};
use crate::usage::report::SetBudget;

/// Most agents that are named at once.
pub const AGENTS_MAX: usize = 256;

/// What an agent is there for that never said.
pub const ROLE: &str = UNREGISTERED_ROLE;

/// What a team is set up with. What is not given stays; nobody leaves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TeamSetup {
    /// Who is in it
    #[serde(default)]
    pub agents: Vec<AgentSetup>,
    /// How many tokens it may use
    #[serde(default)]
    pub budget: Option<SetBudget>,
}

/// Who is in a team, and what for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentSetup {
    /// Its name
    pub id: String,
    /// What it is there for
    pub role: Option<String>,
    /// The language model that it is
    pub model: Option<String>,
}

/// Who was named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TeamSetupAnswer {
    /// The team
    pub team: String,
    /// The agents
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
        CommandTerms::of(Authority::Anyone)
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<()>> {
        let mut events = self.joining(live)?;
        events.extend(self.identities(live)?);
        if let Some(budget) = &self.budget
            && let Decision::Granted((), set) = budget.decide(ctx, live)?
        {
            let before = events.len();
            events.extend(set.into_iter().map(|event| behind(event, before)));
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
    /// The event by which those join who are not in the team.
    fn joining(&self, live: &Live) -> Result<Vec<NewEvent>> {
        if self.agents.len() > AGENTS_MAX {
            let message = format!("agents must name at most {AGENTS_MAX}");
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

    /// The events that say what agents are there for and what they are, where that is new.
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
                let message =
                    format!("agents must say nothing new of {LEADER:?}, who is known to all teams");
                let refusal = Refusal::new(Code::InvalidInput, message);
                return Err(refusal.field("agents").into());
            }
            events.push(WorkerAct::Identity(after).event(&agent.id, &agent.id));
        }
        Ok(events)
    }
}

impl AgentSetup {
    /// What is known of the agent, with what is said of it here.
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

/// The event as one of a group in which others stand before those that it was decided with.
fn behind(mut event: NewEvent, before: usize) -> NewEvent {
    if let Some(Cause::Earlier(at)) = &mut event.cause {
        *at += before;
    }
    event
}
