//! Queries of the team itself.

use super::{COUNT, Counts, FORMER, INFO, MEMBER, RETIRED, Retired, TeamInfo};
use crate::prelude::*;

/// Maximum number of renamings of an agent that a query follows.
const FORMER_MAX: usize = 16;

impl TeamState {
    /// Returns the team, after `team_created` was recorded.
    pub fn team(&self) -> Result<Option<TeamInfo>> {
        self.rows().get(&[INFO])
    }
    /// Returns all members, sorted.
    pub fn members(&self) -> Result<Vec<String>> {
        let members = self.rows().prefix(&[MEMBER], false);
        members.map(|entry| Ok(entry?.name(1))).collect()
    }
    /// Returns true if an agent is a member.
    pub fn is_member(&self, name: &str) -> Result<bool> {
        self.rows().has(&key_of(MEMBER, name.as_bytes()))
    }
    /// Returns true if an agent is retired.
    pub fn is_retired(&self, name: &str) -> Result<bool> {
        self.rows().has(&key_of(RETIRED, name.as_bytes()))
    }
    /// Returns the agent that gets the messages to a retired agent, if the retired agent was renamed.
    pub fn successor(&self, name: &str) -> Result<Option<String>> {
        let retired: Option<Retired> = self.rows().get(&key_of(RETIRED, name.as_bytes()))?;
        Ok(retired.and_then(|retired| retired.successor))
    }
    /// Returns the former names of an agent that was renamed, newest first.
    pub fn former_names(&self, name: &str) -> Result<Vec<String>> {
        let mut names: Vec<String> = Vec::new();
        while names.len() < FORMER_MAX {
            let present = names.last().map_or(name, String::as_str);
            let former: Option<String> = self.rows().get(&key_of(FORMER, present.as_bytes()))?;
            // A former name that was added as a member again belongs to another agent.
            let Some(former) = former else { break };
            if self.successor(&former)?.as_deref() != Some(present) {
                break;
            }
            names.push(former);
        }
        Ok(names)
    }
    /// Returns the agents that left the team without a successor, sorted.
    pub fn retired_agents(&self) -> Result<Vec<String>> {
        let mut retired = Vec::new();
        for entry in self.rows().prefix(&[RETIRED], false) {
            let entry = entry?;
            if entry.row::<Retired>()?.successor.is_none() {
                retired.push(entry.name(1));
            }
        }
        Ok(retired)
    }
    /// Returns the number of events of a reserved kind.
    pub fn count_of(&self, kind: &str) -> Result<u64> {
        let count = self.rows().get(&key_of(COUNT, kind.as_bytes()))?;
        Ok(count.unwrap_or_default())
    }
    /// Returns true if the team was closed.
    pub fn is_closed(&self) -> Result<bool> {
        Ok(self.team()?.is_some_and(|team| team.closed_at.is_some()))
    }
    /// Returns the counts of the team's log.
    pub fn counts(&self) -> Result<Counts> {
        Ok(Counts {
            events: self.seq(),
            messages: self.count_of("message_sent")?,
            acks: self.count_of("message_acked")?,
            tasks: self.task_counts()?.total(),
        })
    }
}
