//! A caller's time limit for an answer, with a check that the caller is still connected. A wait for a caller that can disconnect
//! runs the check every 250 ms.

use crate::prelude::*;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

/// Interval at which a wait checks that the caller is still connected.
const LOOK: Duration = Duration::from_millis(250);

/// Default length of a wait.
const USUAL: Duration = Duration::from_millis(30_000);

/// The time limit of a caller. Clones share the limit. The default has no limit.
#[derive(Debug, Clone, Default)]
pub struct Deadline(Option<Arc<Bounded>>);

struct Bounded {
    longest: Duration,
    ended: AtomicBool,
    /// Function that returns true while the caller is connected; absent if only time ends the wait.
    look: Option<ConnectionCheck>,
}

type ConnectionCheck = Box<dyn Fn() -> bool + Send + Sync>;

impl fmt::Debug for Bounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Bounded { longest, ended, .. } = self;
        f.debug_struct("Bounded")
            .field("longest", longest)
            .field("ended", ended)
            .finish_non_exhaustive()
    }
}

impl Deadline {
    /// Creates a time limit of `longest`.
    pub fn new(longest: Duration) -> Deadline {
        Deadline::bounded(longest, None)
    }

    /// Creates a deadline that ends when `look` returns false.
    pub fn as_long_as(look: impl Fn() -> bool + Send + Sync + 'static) -> Deadline {
        Deadline::bounded(Duration::MAX, Some(Box::new(look)))
    }

    fn bounded(longest: Duration, look: Option<ConnectionCheck>) -> Deadline {
        let ended = AtomicBool::new(false);
        Deadline(Some(Arc::new(Bounded {
            longest,
            ended,
            look,
        })))
    }

    /// Ends the deadline, because the caller no longer waits.
    pub fn end(&self) {
        if let Some(bounded) = &self.0 {
            bounded.ended.store(true, Ordering::Release);
        }
    }

    /// Returns true if the caller no longer waits.
    pub fn is_over(&self) -> bool {
        let Some(bounded) = &self.0 else { return false };
        if bounded.look.as_ref().is_some_and(|look| !look()) {
            self.end();
        }
        bounded.ended.load(Ordering::Acquire)
    }

    /// Returns the length of a wait. `timeout_ms` must not be longer than the deadline. Without `timeout_ms`, returns the default length,
    /// but at most the deadline.
    pub(crate) fn wait(&self, timeout_ms: Option<u64>) -> Result<Duration, Refusal> {
        let bounded = self.0.as_ref();
        let longest = bounded.map_or(Duration::MAX, |bounded| bounded.longest);
        let Some(asked) = timeout_ms else {
            return Ok(USUAL.min(longest));
        };
        let wait = Duration::from_millis(asked);
        if wait <= longest {
            return Ok(wait);
        }
        let longest = longest.as_millis();
        let message = format!("timeout_ms must be at most {longest}, but is {asked}");
        let refusal = Refusal::new(Code::InvalidInput, message).field("timeout_ms");
        Err(refusal.hint(
            "for a longer wait, call again with the cursor of the last answer: no event is missed",
        ))
    }

    /// Returns the time until the next check during a wait.
    pub(crate) fn step(&self, left: Option<Duration>) -> Option<Duration> {
        match (&self.0, left) {
            (None, left) => left,
            (Some(_), None) => Some(LOOK),
            (Some(_), Some(left)) => Some(left.min(LOOK)),
        }
    }
}

impl PartialEq for Deadline {
    /// Returns true if both values are clones of one deadline.
    fn eq(&self, other: &Deadline) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl Eq for Deadline {}
