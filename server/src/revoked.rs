//! Early end of a call: its credential is no longer valid.

use crate::caller::{Caller, Reach};
use crate::served::Served;
use tokio_util::sync::CancellationToken;

/// Canceled with the token or page session of a call. If that reaches every team, also canceled with the token of the
/// call's team, which ends when the team is removed.
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

    /// Completes when the credential is no longer valid.
    pub async fn over(&self) {
        tokio::select! {
            () = self.presented.cancelled() => {}
            () = self.team.cancelled() => {}
        }
    }
}
