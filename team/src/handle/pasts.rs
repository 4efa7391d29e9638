//! A cache of folded past states. A user who looks at a point in the history sends many queries for that point. Without the cache, each
//! query would fold the log up to the point again.
//!
//! The cache is bounded in number of states and in folded events. A state with more events than the bound is not cached and is folded for
//! each query. [`Pasts::forget_idle`] drops states without a query for a minute.

use crate::handle::past::Past;
use crate::handle::prelude::*;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use teamlog_engine::Point;

/// Maximum number of cached past states per team.
pub const PASTS_MAX: usize = 4;
/// Maximum number of cached past states of all teams together.
pub const ALL_PASTS_MAX: usize = 16;
/// Maximum number of folded events in memory, for all cached states together.
pub const FOLDED_EVENTS_MAX: usize = 200_000;
/// Number of events in runs whose cost equals the cost of one event in memory.
const SPILLED_SHARE: u64 = 10;
/// Time after the last use of a state until the state is dropped.
pub const IDLE: Duration = Duration::from_secs(60);

/// Cached past states of the teams of a root.
#[derive(Default)]
pub struct Pasts {
    /// Cached states. The most recently used state is first.
    kept: Mutex<VecDeque<CachedPast>>,
}

struct CachedPast {
    key: Key,
    asked: Instant,
    /// Number of events that were folded for the state.
    events: usize,
    /// The state; `None` until the first query has folded it. Other queries wait for the first query.
    state: Arc<Mutex<Option<Live>>>,
}

/// Key of a past state: its log and its last event.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Key {
    team: String,
    log: String,
    last: Option<EventId>,
}

impl std::fmt::Debug for Pasts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pasts").field("kept", &self.len()).finish()
    }
}

impl Pasts {
    /// Runs a query on the team at a point in its past. Returns the answer and the seq of the last event in the state. Refusals
    /// name the input `field`.
    pub fn ask<A>(
        &self,
        team: Team,
        point: Point,
        question: impl FnOnce(&mut Team) -> A,
    ) -> Result<(A, u64)> {
        let past = team.look_back("at", point)?;
        let (key, seq) = (Key::new(&team, &past), past.moment.seq);
        let state = self.state(&key);
        let mut kept = state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut team = team.at_past(past);
        team.live = kept.take();
        let answer = question(&mut team);
        *kept = team.live.take();
        let events = kept.as_ref().map_or(0, weight);
        drop(kept);
        self.keep(&key, events);
        Ok((answer, seq))
    }

    /// Drops the states whose last use is longer ago than [`IDLE`].
    pub fn forget_idle(&self) {
        self.lock().retain(|one| one.asked.elapsed() < IDLE);
    }

    /// Returns the number of cached states.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Returns true if no state is cached.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the cache entry of a state, and moves it to the front.
    fn state(&self, key: &Key) -> Arc<Mutex<Option<Live>>> {
        let mut all = self.lock();
        let known = all.iter().position(|one| one.key == *key);
        let mut one = known
            .and_then(|at| all.remove(at))
            .unwrap_or_else(|| CachedPast {
                key: key.clone(),
                asked: Instant::now(),
                events: 0,
                state: Arc::default(),
            });
        one.asked = Instant::now();
        let state = Arc::clone(&one.state);
        all.push_front(one);
        drop_surplus(&mut all);
        state
    }

    /// Stores the number of events that were folded for a state, then drops the states above the bounds.
    fn keep(&self, key: &Key, events: usize) {
        let mut all = self.lock();
        if let Some(one) = all.iter_mut().find(|one| one.key == *key) {
            one.events = events;
        }
        drop_surplus(&mut all);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<CachedPast>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the weight of a state in the cache, as a number of folded events.
fn weight(live: &Live) -> usize {
    let spilled = live.spilled_events() / SPILLED_SHARE;
    live.folded_events()
        .saturating_add(usize::try_from(spilled).unwrap_or(usize::MAX))
}

/// Drops the least recently used states above the bounds.
fn drop_surplus(all: &mut VecDeque<CachedPast>) {
    let (mut of_team, mut kept, mut events) = (BTreeMap::new(), 0, 0);
    all.retain(|one| {
        let own: &mut usize = of_team.entry(one.key.team.clone()).or_default();
        let more = *own < PASTS_MAX
            && kept < ALL_PASTS_MAX
            && one.events.saturating_add(events) <= FOLDED_EVENTS_MAX;
        if more {
            *own += 1;
            kept += 1;
            events += one.events;
        }
        more
    });
}

impl Key {
    fn new(team: &Team, past: &Past) -> Key {
        Key {
            team: team.name().to_owned(),
            log: past.reader.identity().log.to_string(),
            last: past.reader.head().last_id,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(team: &str, number: usize, events: usize) -> CachedPast {
        CachedPast {
            key: Key {
                team: team.to_owned(),
                log: number.to_string(),
                last: None,
            },
            asked: Instant::now(),
            events,
            state: Arc::default(),
        }
    }

    fn left(mut all: VecDeque<CachedPast>) -> Vec<String> {
        drop_surplus(&mut all);
        let names = all.iter();
        let names = names.map(|one| format!("{}{}", one.key.team, one.key.log));
        names.collect()
    }

    #[test]
    fn of_each_team_the_last_few_stay() {
        let all = (0..6).flat_map(|number| [kept("a", number, 1), kept("b", number, 1)]);
        assert_eq!(
            left(all.collect()),
            ["a0", "b0", "a1", "b1", "a2", "b2", "a3", "b3"]
        );
        let many = (0..40).map(|number| kept(&format!("t{number}-"), 0, 1));
        assert_eq!(left(many.collect()).len(), ALL_PASTS_MAX);
    }

    #[test]
    fn what_took_too_many_events_goes_and_what_is_smaller_stays() {
        let all = [
            kept("a", 0, FOLDED_EVENTS_MAX + 1),
            kept("a", 1, FOLDED_EVENTS_MAX - 5),
            kept("a", 2, 6),
            kept("a", 3, 5),
        ];
        assert_eq!(left(all.into()), ["a1", "a3"]);
    }
}
