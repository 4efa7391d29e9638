//! `purge`: deletes a closed team with its log. Only this command destroys events, and no other code calls it.

use crate::handle::staging::{Purpose, Staging};
use crate::operation::prelude::*;

/// The answer `{status:"purged", team, log, events}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PurgeAnswer {
    /// Always `purged`.
    #[schemars(extend("const" = "purged"))]
    pub status: &'static str,
    /// The team.
    pub team: String,
    /// Id of the deleted log.
    pub log: String,
    /// Number of events in the deleted log.
    pub events: u64,
}

impl Root {
    /// Deletes a closed team. Takes the lock, and frees the team's name in one step.
    ///
    /// # Errors
    /// `invalid_input`, `team_not_found`, `team_open`; errors of the log.
    pub fn purge(&self, name: &str) -> Result<PurgeAnswer> {
        let mut team = self.team(name)?;
        let (exclusive, live) = team.exclusive()?;
        if !live.is_closed()? {
            return Err(still_open(name).into());
        }
        let answer = PurgeAnswer {
            status: "purged",
            team: name.to_owned(),
            log: exclusive.identity().log.to_string(),
            events: exclusive.head().last_seq,
        };
        // Holds the lock until the name is free. A process that waited for the lock then finds
        // another lock file or no lock file.
        let from = team_dir(name);
        let staging = Staging::begin(self, Purpose::Purged, name)?;
        let renamed = self.storage().rename(&from, staging.dir());
        renamed.map_err(Error::io("rename", &from))?;
        self.sync_teams()?;
        drop(exclusive);
        drop(live);
        let removed = self.storage().remove_dir_all(staging.dir());
        removed.map_err(Error::io("remove", staging.dir()))?;
        self.sync_teams()?;
        Ok(answer)
    }
}

fn still_open(team: &str) -> Refusal {
    let message = format!("team {team:?} is open: close it before it is purged");
    Refusal::new(Code::TeamOpen, message)
        .field("team")
        .detail("team", team)
}
