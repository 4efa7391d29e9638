//! Agents that were let in with their tokens: how often each token may be used, and what ends once it is revoked.

use crate::agent_token;
use crate::caller::{Admitted, Agent, Caller};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use teamlog_team::Root;
use teamlog_team::agent_token::TokenShown;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// The tokens that were used since the daemon runs, by team and digest.
#[derive(Debug)]
pub(crate) struct Agents {
    /// Calls in a second of one token; as many may be saved up.
    calls: u32,
    /// Commands of one token that are carried out at a time.
    connections: usize,
    used: Mutex<BTreeMap<(String, String), Used>>,
}

/// A token that was used.
#[derive(Debug)]
struct Used {
    digest: blake3::Hash,
    /// Ends once it is worth nothing any more.
    revoked: CancellationToken,
    /// Commands that may be carried out at a time.
    places: Arc<Semaphore>,
    /// Calls that may be made at once, as of that moment.
    saved: (f64, Instant),
}

/// Why an agent is not let in.
#[derive(Debug)]
pub(crate) enum NotAdmitted {
    /// No agent has that token.
    Unknown,
    /// It is used too often.
    TooOften,
    /// The team cannot be asked.
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

    /// Whoever presents a token of an agent of that team, for one call more. Waits for the disk.
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
            ..Admitted::of(Caller::with_agent_token(team, agent), revoked)
        })
    }

    /// Counts a call of a token that is good.
    fn one_more(
        &self,
        team: &str,
        digest: blake3::Hash,
        token: &TokenShown,
    ) -> Result<(CancellationToken, Arc<Semaphore>), NotAdmitted> {
        let (most, now) = (f64::from(self.calls.max(1)), Instant::now());
        let mut used = self.used();
        let key = (team.to_owned(), token.token_id.clone());
        let used = used.entry(key).or_insert_with(|| Used {
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

    /// Ends what goes on under tokens of a team that were revoked since, or whose team is not served any more.
    pub fn expire(&self, root: &Root, serves: impl Fn(&str) -> bool) {
        let known: Vec<_> = {
            let used = self.used();
            let known = used.iter().map(|(key, used)| (key.clone(), used.digest));
            known.collect()
        };
        for (key, digest) in known {
            // Where the team cannot be asked nothing is known of its tokens.
            let over = !serves(&key.0) || matches!(holder(root, &key.0, &digest), Ok(None));
            if let Some(used) = over.then(|| self.used().remove(&key)).flatten() {
                used.revoked.cancel();
            }
        }
    }

    fn used(&self) -> MutexGuard<'_, BTreeMap<(String, String), Used>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long a token that was used too often has to rest before its next call.
pub(crate) const REST: Duration = Duration::from_secs(1);

fn holder(
    root: &Root,
    team: &str,
    digest: &blake3::Hash,
) -> teamlog_team::Result<Option<TokenShown>> {
    root.team(team)?.token_holder(digest)
}
