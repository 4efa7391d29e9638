//! Setting a team up: who is in it, what for, and how many tokens it may use, all at once.

use super::usage::SetBudget;
use crate::act::{Act, Ruling};
use crate::failure::Result;
use crate::names;
use crate::projections::Live;
use crate::projections::fact::MembersAdded;
use crate::projections::fact::worker::Identity;
use crate::refusal::{Code, Refusal};
use crate::team::Team;
use crate::{command::append::DEFAULT_ACTOR, membership::LEADER};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use teamlog_engine::{Event, NewEvent, Timestamp};

/// Most agents that are named at once.
pub const AGENTS_MAX: usize = 256;

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
    #[serde(default)]
    pub role: Option<String>,
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
    ///
    /// # Errors
    /// `invalid_input`, `too_large`, `team_closed`; the log's.
    pub fn set_up(&mut self, setup: TeamSetup) -> Result<TeamSetupAnswer> {
        let job = self.setup_job(setup);
        self.perform(job)
    }

    /// What the team is set up with, as it is carried out.
    pub fn setup_job(&self, setup: TeamSetup) -> Job {
        let team = self.name().to_owned();
        Job { team, setup }
    }
}

/// What a team is set up with, and its name.
#[derive(Debug, Clone)]
pub struct Job {
    team: String,
    setup: TeamSetup,
}

impl Act for Job {
    type Verdict = ();
    type Answer = TeamSetupAnswer;

    fn decide(&self, live: &Live, now: Timestamp) -> Result<Ruling<()>> {
        let mut events = self.setup.joining(live)?;
        events.extend(self.setup.roles(live)?);
        if let Some(budget) = &self.setup.budget
            && let Ruling::Granted((), set) = budget.decide(live, now)?
        {
            let before = events.len();
            events.extend(set.into_iter().map(|event| behind(event, before)));
        }
        Ok(Ruling::Granted((), events))
    }

    fn answer(
        &self,
        _: &Live,
        (): &(),
        _: &[Event<'static>],
        _: Timestamp,
    ) -> Result<TeamSetupAnswer> {
        Ok(TeamSetupAnswer {
            team: self.team.clone(),
            agents: self
                .setup
                .agents
                .iter()
                .map(|agent| agent.id.clone())
                .collect(),
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
            false => vec![MembersAdded { members }.event(DEFAULT_ACTOR)],
        })
    }

    /// The events that say what agents are there for, where that is new.
    fn roles(&self, live: &Live) -> Result<Vec<NewEvent>> {
        let mut events = Vec::new();
        let workers = self.agents.iter().filter(|agent| agent.id != LEADER);
        for (index, agent) in (1..).zip(workers) {
            let Some(role) = &agent.role else {
                continue;
            };
            let role = names::filled("role", role)?;
            let known = live.identity(&agent.id)?.map(|noted| noted.what);
            if known.as_ref().is_some_and(|known| known.role == role) {
                continue;
            }
            let identity = Identity {
                role: role.to_owned(),
                ..known.unwrap_or_else(|| unregistered(index))
            };
            events.push(identity.event(&agent.id));
        }
        Ok(events)
    }
}

/// A worker that never said anything of itself.
fn unregistered(index: u32) -> Identity {
    Identity {
        index,
        role: String::new(),
        assigned_tasks: Vec::new(),
        pid: None,
        pane_id: None,
        working_dir: None,
        worktree_path: None,
        worktree_branch: None,
        worktree_detached: None,
        team_state_root: None,
    }
}

/// The event as one of a group in which others stand before those that it was decided with.
fn behind(mut event: NewEvent, before: usize) -> NewEvent {
    if let Some(teamlog_engine::Cause::Earlier(at)) = event.cause {
        event.cause = Some(teamlog_engine::Cause::Earlier(at + before));
    }
    event
}
