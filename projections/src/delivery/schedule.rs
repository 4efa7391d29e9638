//! When each attempt ends, and what is due by a time, in the order of time.

use super::{DUE, Delivery, State};
use crate::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Something that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// The delivery, as it stands before all that is due.
    pub delivery: Delivery,
    /// When an attempt ended.
    pub at: Timestamp,
    /// What follows.
    pub step: Step,
}

/// What follows where an attempt ends without an ack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The attempt with that number.
    Retry(u32),
    /// The message becomes a dead letter after so many attempts.
    Dead(u32),
}

/// When attempt `attempt` of a delivery ends that began at `started`.
pub(crate) fn attempt_end(started: Timestamp, timeout_seconds: u64, attempt: u32) -> Timestamp {
    started.plus_micros(attempts_micros(timeout_seconds, attempt))
}

/// When a delivery began whose first attempt ends at `due`.
pub(super) fn start_of(due: Timestamp, timeout_seconds: u64) -> Timestamp {
    due.plus_micros(-attempts_micros(timeout_seconds, 1))
}

fn attempts_micros(timeout_seconds: u64, attempts: u32) -> i64 {
    // No attempt is shorter than a second, whatever a log says.
    let seconds = timeout_seconds.max(1).saturating_mul(u64::from(attempts));
    i64::try_from(seconds.saturating_mul(1_000_000)).unwrap_or(i64::MAX)
}

/// What follows the end of that attempt of a delivery.
fn step(delivery: &Delivery, attempt: u32) -> Step {
    match attempt <= delivery.policy.max_retries {
        true => Step::Retry(attempt.saturating_add(1)),
        false => Step::Dead(attempt),
    }
}

impl TeamState {
    /// When the next attempt of any delivery ends.
    pub fn next_due(&self) -> Result<Option<Timestamp>> {
        self.rows().first_time(DUE)
    }
    /// Deliveries that wait for their ack, the next one that is due first.
    pub fn open_deliveries(&self, limit: usize) -> Result<Vec<Delivery>> {
        self.open_deliveries_behind(None, limit)
    }
    /// The same behind that of a message that was due at that time.
    pub fn open_deliveries_behind(
        &self,
        behind: Option<(Timestamp, &str)>,
        limit: usize,
    ) -> Result<Vec<Delivery>> {
        let from = match behind {
            None => vec![DUE],
            // The least key behind that one.
            Some((at, id)) => [timed(DUE, at.micros(), id.as_bytes()), vec![0]].concat(),
        };
        let mut open = Vec::new();
        for entry in self.rows().walk(&from, &end_of(&[DUE]), false).take(limit) {
            open.extend(self.delivery(&entry?.name(TIMED_BYTES))?);
        }
        Ok(open)
    }
    /// The first `limit` things that are due by `now`, of one message or of all, in the order of their times and then of
    /// message ids, however late somebody asks.
    pub fn due_by(
        &self,
        now: Timestamp,
        message_id: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Due>> {
        let mut following = Following::default();
        if let Some(id) = message_id {
            if let Some(delivery) = self
                .delivery(id)?
                .filter(|found| found.state == State::Open)
            {
                following.push(delivery.due_at(), delivery.attempt, delivery);
            }
            return following.take(now, limit, &mut || Ok(None));
        }
        let mut index = self.rows().prefix(&[DUE], false);
        let mut indexed = || match index.next() {
            None => Ok(None),
            Some(entry) => {
                let entry = entry?;
                Ok(entry.time().map(|due| (due, entry.name(TIMED_BYTES))))
            }
        };
        following.live = Some(self);
        following.take(now, limit, &mut indexed)
    }
}

/// What the deliveries that were met lead to, earliest first.
#[derive(Default)]
struct Following<'a> {
    live: Option<&'a TeamState>,
    heap: BinaryHeap<Reverse<(Timestamp, String, u32)>>,
    met: BTreeMap<String, Delivery>,
}

type Indexed = Option<(Timestamp, String)>;

impl Following<'_> {
    fn push(&mut self, at: Timestamp, attempt: u32, delivery: Delivery) {
        let id = delivery.message_id.clone();
        self.met.insert(id.clone(), delivery);
        self.heap.push(Reverse((at, id, attempt)));
    }

    /// Merges what follows with the index, so that both come in one order and no more of the index is read than is due.
    fn take(
        mut self,
        now: Timestamp,
        limit: usize,
        index: &mut dyn FnMut() -> Result<Indexed>,
    ) -> Result<Vec<Due>> {
        let mut due = Vec::new();
        let mut waiting = index()?;
        while due.len() < limit {
            while let Some((at, id)) = waiting.take_if(|(at, _)| *at <= now) {
                if self
                    .heap
                    .peek()
                    .is_some_and(|Reverse((first, name, _))| (first, name) < (&at, &id))
                {
                    waiting = Some((at, id));
                    break;
                }
                let known = self.live.map_or(Ok(None), |live| live.delivery(&id))?;
                if let Some(delivery) = known {
                    self.push(at, delivery.attempt, delivery);
                }
                waiting = index()?;
            }
            let Some(Reverse((at, id, attempt))) = self.heap.pop() else {
                break;
            };
            if at > now {
                break;
            }
            let Some(delivery) = self.met.get(&id).cloned() else {
                break;
            };
            let step = step(&delivery, attempt);
            if let Step::Retry(next) = step {
                self.heap.push(Reverse((delivery.end_of(next), id, next)));
            }
            due.push(Due { delivery, at, step });
        }
        Ok(due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_end_one_timeout_after_another_and_never_overflow() {
        let start = Timestamp::parse("2026-11-21T10:00:00Z").unwrap();
        let ends =
            |timeout, attempt| attempt_end(start, timeout, attempt).micros() - start.micros();
        assert_eq!(ends(60, 1), 60_000_000);
        assert_eq!(ends(60, 3), 180_000_000);
        assert_eq!(ends(0, 2), 2_000_000);
        assert_eq!(attempt_end(start, u64::MAX, u32::MAX), Timestamp::MAX);
        assert_eq!(start_of(attempt_end(start, 60, 1), 60), start);
        assert_eq!(start_of(start, u64::MAX), Timestamp::default());
    }
}
