//! When a call has to end early: once what was presented for it is worth nothing any more.

use crate::caller::{Caller, Reach};
use crate::served::Served;
use tokio_util::sync::CancellationToken;

/// Ends with the token or the page session of a call; where that reaches every team, also with the token of the team that is
/// asked about, since that goes where the team does.
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

    /// Ends then.
    pub async fn over(&self) {
        tokio::select! {
            () = self.presented.cancelled() => {}
            () = self.team.cancelled() => {}
        }
    }
}
