//! Agents that authenticated with tokens: the rate limit of each token, and the end of an agent's connections after its
//! token is revoked.

use crate::agent_token;
use crate::caller::{Admitted, Agent, Caller};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use teamlog_team::Root;
use teamlog_team::agent_token::TokenShown;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Tokens that were used since the start of the daemon, by team and digest.
#[derive(Debug)]
pub(crate) struct Agents {
    /// Maximum number of calls per second with one token. Also the maximum number of calls at once.
    calls: u32,
    /// Maximum number of concurrent commands of a token.
    connections: usize,
    used: Mutex<BTreeMap<(String, String), UsedToken>>,
}

/// State of a used token.
#[derive(Debug)]
struct UsedToken {
    digest: blake3::Hash,
    /// Canceled when the token is revoked.
    revoked: CancellationToken,
    /// Permits for concurrent commands.
    places: Arc<Semaphore>,
    /// Number of calls that the token may make at once, and the time at which this number was computed.
    saved: (f64, Instant),
}

/// Reason why an agent is not admitted.
#[derive(Debug)]
pub(crate) enum NotAdmitted {
    /// The token is unknown.
    Unknown,
    /// The token exceeds its rate limit.
    TooOften,
    /// The team's log cannot be read.
    Failed,
}

impl Agents {
    pub fn new(calls: u32, connections: usize) -> Agents {
        Agents {
            calls,
            connections,
            used: Mutex::default(),
        }
    }

    /// Checks the presented token and counts a call. Returns the agent. Reads the disk.
    pub fn admit(&self, root: &Root, team: &str, presented: &str) -> Result<Admitted, NotAdmitted> {
        let digest = agent_token::digest(presented);
        let Some(token) = holder(root, team, &digest).map_err(|_| NotAdmitted::Failed)? else {
            return Err(NotAdmitted::Unknown);
        };
        let (revoked, places) = self.one_more(team, digest, &token)?;
        let agent = Agent {
            name: token.agent,
            scope: token.scope,
        };
        Ok(Admitted {
            places: Some(places),
            ..Admitted::new(Caller::with_agent_token(team, agent), revoked)
        })
    }

    /// Counts a call of a valid token.
    fn one_more(
        &self,
        team: &str,
        digest: blake3::Hash,
        token: &TokenShown,
    ) -> Result<(CancellationToken, Arc<Semaphore>), NotAdmitted> {
        let (most, now) = (f64::from(self.calls.max(1)), Instant::now());
        let mut used = self.used();
        let key = (team.to_owned(), token.token_id.clone());
        let used = used.entry(key).or_insert_with(|| UsedToken {
            digest,
            revoked: CancellationToken::new(),
            places: Arc::new(Semaphore::new(self.connections)),
            saved: (most, now),
        });
        let (saved, since) = used.saved;
        let saved = (saved + most * now.duration_since(since).as_secs_f64()).min(most);
        if saved < 1.0 {
            used.saved = (saved, now);
            return Err(NotAdmitted::TooOften);
        }
        used.saved = (saved - 1.0, now);
        Ok((used.revoked.clone(), used.places.clone()))
    }

    /// Ends all connections of tokens that were revoked or whose team is no longer served.
    pub fn expire(&self, root: &Root, serves: impl Fn(&str) -> bool) {
        let known: Vec<_> = {
            let used = self.used();
            let known = used.iter().map(|(key, used)| (key.clone(), used.digest));
            known.collect()
        };
        for (key, digest) in known {
            // Keep the tokens of a team whose log cannot be read.
            let over = !serves(&key.0) || matches!(holder(root, &key.0, &digest), Ok(None));
            if let Some(used) = over.then(|| self.used().remove(&key)).flatten() {
                used.revoked.cancel();
            }
        }
    }

    fn used(&self) -> MutexGuard<'_, BTreeMap<(String, String), UsedToken>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Time after which a client whose token exceeded its rate limit can try again.
pub(crate) const REST: Duration = Duration::from_secs(1);

fn holder(
    root: &Root,
    team: &str,
    digest: &blake3::Hash,
) -> teamlog_team::Result<Option<TokenShown>> {
    root.team(team)?.token_holder(digest)
}
