//! Limits how many states of the past a daemon folds at a time. Each fold reads the log from its last usable run on, so
//! that many at once would take the machine from those who record.

use crate::handle::prelude::*;
use std::sync::{Condvar, Mutex, PoisonError};

/// So many folds run at a time by default.
pub const PAST_FOLDS: usize = 2;
/// So long a question waits for one of them to end by default.
pub const PAST_FOLD_WAIT: Duration = Duration::from_secs(2);

/// The folds of the past that may run at a time, all teams together.
#[derive(Debug)]
pub struct PastFolds {
    free: Mutex<usize>,
    ended: Condvar,
    wait: Duration,
}

impl PastFolds {
    /// So many at a time; a question that finds none free waits that long before it is refused.
    pub fn new(all: usize, wait: Duration) -> PastFolds {
        PastFolds {
            free: Mutex::new(all),
            ended: Condvar::new(),
            wait,
        }
    }

    /// Takes one of the folds until the answer is dropped.
    ///
    /// # Errors
    /// `past_busy` if none becomes free in time.
    pub fn take(self: &Arc<PastFolds>) -> Result<PastFold, Refusal> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .ended
            .wait_timeout_while(free, self.wait, |free| *free == 0);
        let (mut free, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if *free == 0 {
            let message = "the daemon answers as many questions about the past as it can; ask again in a moment";
            return Err(Refusal::new(Code::PastBusy, message));
        }
        *free -= 1;
        Ok(PastFold(Arc::clone(self)))
    }
}

/// One of the folds, which is free again once this is dropped.
#[derive(Debug)]
pub struct PastFold(Arc<PastFolds>);

impl Drop for PastFold {
    fn drop(&mut self) {
        let free = self.0.free.lock();
        *free.unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.ended.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_too_many_is_refused_and_one_that_ends_makes_room() {
        let folds = Arc::new(PastFolds::new(2, Duration::ZERO));
        let first = folds.take().unwrap();
        let second = folds.take().unwrap();
        assert_eq!(folds.take().unwrap_err().code, Code::PastBusy);
        drop(first);
        let third = folds.take().unwrap();
        drop((second, third));
        assert!(folds.take().is_ok());
    }

    #[test]
    fn a_question_waits_for_a_fold_that_ends() {
        let folds = Arc::new(PastFolds::new(1, Duration::from_secs(30)));
        let first = folds.take().unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| folds.take().map(drop));
            drop(first);
            waiting.join().unwrap().unwrap();
        });
    }
}
