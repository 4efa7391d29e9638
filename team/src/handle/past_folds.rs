//! Limits how many past states a daemon folds at a time. Folding a past state reads the log from the last usable run on. Many folds at a
//! time would slow down the commands that record.

use crate::handle::prelude::*;
use std::sync::{Condvar, Mutex, PoisonError};

/// Default number of parallel folds.
pub const PAST_FOLDS: usize = 2;
/// Default time that a query waits for a permit to fold.
pub const PAST_FOLD_WAIT: Duration = Duration::from_secs(2);

/// A limit on the number of parallel folds of past states. All teams share the limit.
#[derive(Debug)]
pub struct PastFolds {
    free: Mutex<usize>,
    ended: Condvar,
    wait: Duration,
}

impl PastFolds {
    /// Allows `all` folds at a time. A query that gets no permit within `wait` is refused.
    pub fn new(all: usize, wait: Duration) -> PastFolds {
        PastFolds {
            free: Mutex::new(all),
            ended: Condvar::new(),
            wait,
        }
    }

    /// Takes a permit to fold. Dropping the permit returns it.
    ///
    /// # Errors
    /// `past_busy` if no permit becomes free in time.
    pub fn take(self: &Arc<PastFolds>) -> Result<PastFold, Refusal> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .ended
            .wait_timeout_while(free, self.wait, |free| *free == 0);
        let (mut free, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if *free == 0 {
            let message =
                "the daemon has reached its limit of past states; try again in a few seconds";
            return Err(Refusal::new(Code::PastBusy, message));
        }
        *free -= 1;
        Ok(PastFold(Arc::clone(self)))
    }
}

/// A permit to fold a past state. Dropping the permit returns it.
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
