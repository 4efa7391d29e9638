//! The pasts that are asked for most lately, kept folded: whoever moves through the history asks many questions at one
//! point, and each would fold the log up to there anew.
//!
//! What is kept is bounded in number and in the events folded for it; a past that took more events than that is folded for
//! every question. A past that nobody asked for within a minute goes as well, if somebody calls [`Pasts::forget_idle`].

use crate::handle::past::Past;
use crate::handle::prelude::*;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use teamlog_engine::Point;

/// So many pasts are kept of each team.
pub const PASTS_MAX: usize = 4;
/// So many of all teams.
pub const ALL_PASTS_MAX: usize = 16;
/// So many events may have been folded in memory for all that are kept.
pub const FOLDED_EVENTS_MAX: usize = 200_000;
/// So many events in runs count as one in memory.
const SPILLED_SHARE: u64 = 10;
/// A past that nobody asked for so long goes.
pub const IDLE: Duration = Duration::from_secs(60);

/// A few pasts, of any team of a root.
#[derive(Default)]
pub struct Pasts {
    /// The one asked for last stands first.
    kept: Mutex<VecDeque<Kept>>,
}

struct Kept {
    key: Key,
    asked: Instant,
    /// How many events were folded for it.
    events: usize,
    /// `None` until the first one who asks has it folded; the others wait for that one.
    state: Arc<Mutex<Option<Live>>>,
}

/// Which state it is: the same log, up to the same event.
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
    /// Asks the team as it was at that point, which `field` named; with the answer comes the last event that it knows.
    pub fn ask<A>(
        &self,
        team: Team,
        point: Point,
        question: impl FnOnce(&mut Team) -> A,
    ) -> Result<(A, u64)> {
        let past = team.look_back("at", point)?;
        let (key, seq) = (Key::of(&team, &past), past.moment.seq);
        let state = self.state(&key);
        let mut kept = state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut team = team.standing_at(past);
        team.live = kept.take();
        let answer = question(&mut team);
        *kept = team.live.take();
        let events = kept.as_ref().map_or(0, weight);
        drop(kept);
        self.keep(&key, events);
        Ok((answer, seq))
    }

    /// Lets go of what nobody asked for lately.
    pub fn forget_idle(&self) {
        self.lock().retain(|one| one.asked.elapsed() < IDLE);
    }

    /// How many are kept.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The place of a state, which is now the one asked for last.
    fn state(&self, key: &Key) -> Arc<Mutex<Option<Live>>> {
        let mut all = self.lock();
        let known = all.iter().position(|one| one.key == *key);
        let mut one = known.and_then(|at| all.remove(at)).unwrap_or_else(|| Kept {
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

    /// Notes what a state takes; what is too much goes.
    fn keep(&self, key: &Key, events: usize) {
        let mut all = self.lock();
        if let Some(one) = all.iter_mut().find(|one| one.key == *key) {
            one.events = events;
        }
        drop_surplus(&mut all);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many events count as folded for a state.
fn weight(live: &Live) -> usize {
    let spilled = live.spilled_events() / SPILLED_SHARE;
    live.folded_events()
        .saturating_add(usize::try_from(spilled).unwrap_or(usize::MAX))
}

/// Keeps those asked for last, as far as they are not too many.
fn drop_surplus(all: &mut VecDeque<Kept>) {
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
    fn of(team: &Team, past: &Past) -> Key {
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

    fn kept(team: &str, number: usize, events: usize) -> Kept {
        Kept {
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

    fn left(mut all: VecDeque<Kept>) -> Vec<String> {
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
