//! `teams`: the teams of a data root, each in a line.

use crate::operation::prelude::*;

/// A team in few words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TeamListed {
    /// The team.
    pub team: String,
    /// Whether it was not closed.
    pub open: bool,
    /// When it was closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Timestamp>")]
    pub closed_at: Option<String>,
    /// How many members it has.
    pub members: usize,
    /// How many events its log holds.
    pub events: u64,
    /// When the last one was recorded.
    #[schemars(with = "Option<Timestamp>")]
    pub last_event_at: Option<String>,
    /// The kind of the last one.
    pub last_event_kind: Option<String>,
}

impl Team {
    /// The team in few words.
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
