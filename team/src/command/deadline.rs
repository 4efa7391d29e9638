//! How long a caller waits for an answer, and whether it still does. A wait on behalf of a caller that may hang up checks
//! that every 250 ms.

use crate::prelude::*;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

/// How often a wait checks whether its caller is still there.
const LOOK: Duration = Duration::from_millis(250);

/// How long to wait where nobody says.
const USUAL: Duration = Duration::from_millis(30_000);

/// The deadline of a caller; clones are the same one. By default there is no end to it.
#[derive(Debug, Clone, Default)]
pub struct Deadline(Option<Arc<Bounded>>);

struct Bounded {
    longest: Duration,
    ended: AtomicBool,
    /// Whether the caller still waits, where that has to be looked up.
    look: Option<Look>,
}

type Look = Box<dyn Fn() -> bool + Send + Sync>;

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
    /// One that lasts no longer than that, and may end before.
    pub fn of(longest: Duration) -> Deadline {
        Deadline::bounded(longest, None)
    }

    /// One that lasts for as long as that says so.
    pub fn as_long_as(look: impl Fn() -> bool + Send + Sync + 'static) -> Deadline {
        Deadline::bounded(Duration::MAX, Some(Box::new(look)))
    }

    fn bounded(longest: Duration, look: Option<Look>) -> Deadline {
        let ended = AtomicBool::new(false);
        Deadline(Some(Arc::new(Bounded {
            longest,
            ended,
            look,
        })))
    }

    /// Nobody waits any more.
    pub fn end(&self) {
        if let Some(bounded) = &self.0 {
            bounded.ended.store(true, Ordering::Release);
        }
    }

    /// Whether nobody waits any more.
    pub fn is_over(&self) -> bool {
        let Some(bounded) = &self.0 else { return false };
        if bounded.look.as_ref().is_some_and(|look| !look()) {
            self.end();
        }
        bounded.ended.load(Ordering::Acquire)
    }

    /// How long to wait: as long as `timeout_ms` says, which must not be longer than the deadline; else the usual time, or
    /// less.
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
        Err(refusal.hint("wait again behind the cursor of the answer, which misses nothing"))
    }

    /// How long to wait at a time.
    pub(crate) fn step(&self, left: Option<Duration>) -> Option<Duration> {
        match (&self.0, left) {
            (None, left) => left,
            (Some(_), None) => Some(LOOK),
            (Some(_), Some(left)) => Some(left.min(LOOK)),
        }
    }
}

impl PartialEq for Deadline {
    /// Whether both are the same one.
    fn eq(&self, other: &Deadline) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl Eq for Deadline {}
