//! Wall clocks. Functions take a clock as an argument, so that tests control the time.

use crate::timestamp::Timestamp;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Tells the wall-clock time. The time may stop, run backward or jump, because the log orders events by `seq`.
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// Returns the current time.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let micros = i64::try_from(since.as_micros()).unwrap_or(i64::MAX);
        Timestamp::from_micros(micros).unwrap_or(Timestamp::MAX)
    }
}

/// A clock that changes only when a test sets it.
#[derive(Debug, Default)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// Creates a clock that shows `at`.
    pub fn new(at: Timestamp) -> Self {
        Self(AtomicI64::new(at.micros()))
    }
    /// Sets the time, which may be earlier than before.
    pub fn set(&self, at: Timestamp) {
        self.0.store(at.micros(), Ordering::SeqCst);
    }
    /// Moves the time by `micros`, which may be negative.
    pub fn advance(&self, micros: i64) {
        self.set(self.now().plus_micros(micros));
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst)).unwrap_or(Timestamp::MAX)
    }
}
