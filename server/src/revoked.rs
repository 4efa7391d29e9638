//! The end of a call when its credential becomes invalid.

use crate::caller::{Caller, Reach};
use crate::served::Served;
use tokio_util::sync::CancellationToken;

/// Canceled when the token or page session of the call becomes invalid. If the credential is for all teams, this is also
/// canceled when the token of the call's team ends, for example because the team is removed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Revoked {
    presented: CancellationToken,
    team: CancellationToken,
}

impl Revoked {
    pub fn new(
        presented: CancellationToken,
        served: &Served,
        caller: &Caller,
        team: &str,
    ) -> Revoked {
        let team = match caller.reach {
            Reach::Team(_) => None,
            Reach::Root => served.revoked(team),
        };
        Revoked {
            presented,
            team: team.unwrap_or_default(),
        }
    }

    /// Waits until the credential becomes invalid.
    pub async fn over(&self) {
        tokio::select! {
            () = self.presented.cancelled() => {}
            () = self.team.cancelled() => {}
        }
    }
}
