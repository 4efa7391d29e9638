//! Questions about the team itself.

use super::{Born, COUNT, INFO, InfoRow, MEMBER, TeamInfo};
use crate::live::Counts;
use crate::prelude::*;

impl Live {
    /// The team, once `team_created` is recorded.
    pub fn team(&self) -> Result<Option<TeamInfo>> {
        let info: Option<InfoRow> = self.rows().get(&[INFO])?;
        Ok(info.map(|info| TeamInfo {
            created_at: Timestamp::from_micros(info.created_at).unwrap_or_default(),
            open: info.open,
            views: info.views,
            members: info.members,
            closed_at: info.closed_at.and_then(Timestamp::from_micros),
            seq: info.seq,
        }))
    }
    /// All members, sorted.
    pub fn members(&self) -> Result<Vec<String>> {
        self.rows()
            .prefix(&[MEMBER], false)
            .map(|entry| Ok(String::from_utf8_lossy(entry?.behind(1)).into_owned()))
            .collect()
    }
    /// Whether an agent is a member.
    pub fn is_member(&self, name: &str) -> Result<bool> {
        self.rows().has(&key_of(MEMBER, name.as_bytes()))
    }
    /// How many events of a reserved kind there are.
    pub fn count_of(&self, kind: &str) -> Result<u64> {
        Ok(self
            .rows()
            .get(&key_of(COUNT, kind.as_bytes()))?
            .unwrap_or_default())
    }
    /// Whether the team was closed.
    pub fn is_closed(&self) -> Result<bool> {
        Ok(self.team()?.is_some_and(|team| team.closed_at.is_some()))
    }
    /// How many of what there are.
    pub fn counts(&self) -> Result<Counts> {
        Ok(Counts {
            events: self.seq(),
            messages: self.count_of("message_sent")?,
            acks: self.count_of("message_acked")?,
            tasks: self.task_counts()?.total(),
        })
    }
    /// How the team was created.
    pub(crate) fn born(&self) -> Result<Option<Born>> {
        let info: Option<InfoRow> = self.rows().get(&[INFO])?;
        Ok(info.map(|info| Born {
            open: info.born_open,
            views: info.born_views,
        }))
    }
}
