//! Ends of attempts, and the due deliveries in order of time.

use super::{DUE, Delivery, State};
use crate::prelude::*;

/// A due step of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// The delivery before the step.
    pub delivery: Delivery,
    /// End of the attempt.
    pub at: Timestamp,
    /// The step.
    pub step: Step,
}

/// Step after an attempt that ended without an ack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Retry, with the number of the attempt.
    Retry(u32),
    /// Dead letter, with the number of attempts.
    Dead(u32),
}

/// Returns the end of attempt `attempt` of a delivery that began at `started`.
pub(crate) fn attempt_end(started: Timestamp, timeout_seconds: u64, attempt: u32) -> Timestamp {
    started.plus_micros(attempts_micros(timeout_seconds, attempt))
}

/// Returns the start of a delivery whose first attempt ends at `due`.
pub(super) fn start_of(due: Timestamp, timeout_seconds: u64) -> Timestamp {
    due.plus_micros(-attempts_micros(timeout_seconds, 1))
}

fn attempts_micros(timeout_seconds: u64, attempts: u32) -> i64 {
    // Attempts last at least a second, even if the log has a shorter timeout.
    let seconds = timeout_seconds.max(1).saturating_mul(u64::from(attempts));
    i64::try_from(seconds.saturating_mul(1_000_000)).unwrap_or(i64::MAX)
}

impl Due {
    /// Returns the step that follows the current attempt.
    fn from_delivery(delivery: Delivery) -> Due {
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
    /// Returns the next end of an attempt of any delivery.
    pub fn next_due(&self) -> Result<Option<Timestamp>> {
        self.rows().first_time(DUE)
    }
    /// Returns deliveries that wait for an ack, earliest deadline first.
    pub fn open_deliveries(&self, limit: usize) -> Result<Vec<Delivery>> {
        self.open_deliveries_behind(None, limit)
    }
    /// Like [`TeamState::open_deliveries`], starting after a message with its deadline.
    pub fn open_deliveries_behind(
        &self,
        behind: Option<(Timestamp, &str)>,
        limit: usize,
    ) -> Result<Vec<Delivery>> {
        let from = match behind {
            None => vec![DUE],
            // Start at the smallest key after the key of the given message.
            Some((at, id)) => [timed(DUE, at.micros(), id.as_bytes()), vec![0]].concat(),
        };
        let mut open = Vec::new();
        for entry in self.rows().walk(&from, &end_of(&[DUE]), false).take(limit) {
            open.extend(self.delivery(&entry?.name(TIMED_BYTES))?);
        }
        Ok(open)
    }
    /// Returns the first `limit` deliveries with an attempt that ended by `now`, of one message or of all messages, ordered by
    /// the end of the attempt and by message id. Each delivery has one step, even if several timeouts have passed.
    pub fn due_by(
        &self,
        now: Timestamp,
        message_id: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Due>> {
        if let Some(id) = message_id {
            let is_due = |found: &Delivery| found.state == State::Open && found.due_at() <= now;
            let found = self.delivery(id)?.filter(is_due);
            return Ok(found
                .map(Due::from_delivery)
                .into_iter()
                .take(limit)
                .collect());
        }
        let end = end_of(&timed(DUE, now.micros(), b""));
        let mut due = Vec::new();
        for entry in self.rows().walk(&[DUE], &end, false).take(limit) {
            due.extend(
                self.delivery(&entry?.name(TIMED_BYTES))?
                    .map(Due::from_delivery),
            );
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
