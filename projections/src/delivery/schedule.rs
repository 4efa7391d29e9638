//! When each attempt ends, and what is due by a time, in the order of time.

use super::{DUE, Delivery, State};
use crate::prelude::*;

/// Something that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// The delivery, before that.
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

impl Due {
    /// Next step after the attempt that waits.
    fn of(delivery: Delivery) -> Due {
        let attempt = delivery.attempt;
        Due {
            at: delivery.due_at(),
            step: match attempt <= delivery.policy.max_retries {
                true => Step::Retry(attempt.saturating_add(1)),
                false => Step::Dead(attempt),
            },
            delivery,
        }
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
    /// The first `limit` deliveries of which an attempt ended by `now`, of one message or of all, in the order of those
    /// times and then of message ids. Each leads to one step, however late that is seen.
    pub fn due_by(
        &self,
        now: Timestamp,
        message_id: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Due>> {
        if let Some(id) = message_id {
            let is_due = |found: &Delivery| found.state == State::Open && found.due_at() <= now;
            let found = self.delivery(id)?.filter(is_due);
            return Ok(found.map(Due::of).into_iter().take(limit).collect());
        }
        let end = end_of(&timed(DUE, now.micros(), b""));
        let mut due = Vec::new();
        for entry in self.rows().walk(&[DUE], &end, false).take(limit) {
            due.extend(self.delivery(&entry?.name(TIMED_BYTES))?.map(Due::of));
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
