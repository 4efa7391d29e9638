//! `teams`: the teams of a data root, with one line per team.

use crate::operation::prelude::*;

/// Summary of a team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TeamListed {
    /// The team.
    pub team: String,
    /// True if the team is not closed.
    pub open: bool,
    /// Time when the team was closed; absent if the team is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Timestamp>")]
    pub closed_at: Option<String>,
    /// Number of members.
    pub members: usize,
    /// Number of events in the team's log.
    pub events: u64,
    /// Time of the last event.
    #[schemars(with = "Option<Timestamp>")]
    pub last_event_at: Option<String>,
    /// Kind of the last event.
    pub last_event_kind: Option<String>,
}

impl Team {
    /// Returns a summary of the team.
    pub fn listed(&mut self) -> Result<TeamListed> {
        self.query(|live, reader| {
            let closed_at = live.team()?.and_then(|team| team.closed_at);
            let last = match reader.head().last_seq {
                0 => None,
                seq => Some(page::event(live, reader, seq)?),
            };
            Ok(TeamListed {
                team: live.team_name().to_owned(),
                open: !live.is_closed()?,
                closed_at: closed_at.map(|at| at.to_string()),
                members: live.members()?.len(),
                events: reader.head().last_seq,
                last_event_at: last.as_ref().map(|event| event.created_at.to_string()),
                last_event_kind: last.map(|event| event.kind.into_owned()),
            })
        })
    }
}
