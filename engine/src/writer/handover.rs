//! Passes one value from one thread to another, with one wake-up.
//!
//! The receiver sleeps at once, because the value comes after a sync, and threads that poll for the value would take processor
//! time from the thread that computes the value.

use crate::prelude::*;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Place for the value.
struct Slot<T> {
    value: Mutex<Value<T>>,
    there: Condvar,
}

enum Value<T> {
    Awaited,
    There(T),
    /// The giver was dropped without a value.
    Never,
}

/// The end that gives the value.
pub(super) struct Giver<T>(Arc<Slot<T>>);

/// The end that waits for the value.
pub(super) struct Taker<T>(Arc<Slot<T>>);

/// Creates both ends.
pub(super) fn handover<T>() -> (Giver<T>, Taker<T>) {
    let slot = Arc::new(Slot {
        value: Mutex::new(Value::Awaited),
        there: Condvar::new(),
    });
    (Giver(Arc::clone(&slot)), Taker(slot))
}

impl<T> Slot<T> {
    fn value(&self) -> MutexGuard<'_, Value<T>> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Giver<T> {
    /// Gives the value, and wakes the taker.
    pub fn give(self, value: T) {
        *self.0.value() = Value::There(value);
    }
}

impl<T> Drop for Giver<T> {
    fn drop(&mut self) {
        let mut value = self.0.value();
        if matches!(*value, Value::Awaited) {
            *value = Value::Never;
        }
        drop(value);
        // Wakes the taker after releasing the lock, so that the taker does not wait for the lock.
        self.0.there.notify_one();
    }
}

impl<T> Taker<T> {
    /// Waits for the value; returns `None` if the giver was dropped without a value.
    pub fn take(self) -> Option<T> {
        let mut value = self.0.value();
        while matches!(*value, Value::Awaited) {
            let woken = self.0.there.wait(value);
            value = woken.unwrap_or_else(PoisonError::into_inner);
        }
        match std::mem::replace(&mut *value, Value::Never) {
            Value::There(value) => Some(value),
            Value::Awaited | Value::Never => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_arrives_whoever_comes_first_and_a_giver_that_goes_away_leaves_nobody_waiting() {
        for given in [Some(7), None].repeat(50) {
            let (giver, taker) = handover();
            let waiting = std::thread::spawn(move || taker.take());
            // Give the taker time to fall asleep.
            (0..100).for_each(|_| std::thread::yield_now());
            match given {
                Some(value) => giver.give(value),
                None => drop(giver),
            }
            assert_eq!(waiting.join().unwrap(), given);
        }
        let (giver, taker) = handover();
        giver.give(7);
        assert_eq!(taker.take(), Some(7));
    }
}
