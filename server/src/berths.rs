//! Places for connections that were taken over: some for those that work, others for those that wait for something outside
//! of the daemon, so that whoever waits keeps nobody from doing what is waited for.

use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The places.
#[derive(Debug)]
pub(crate) struct Berths {
    working: Pier,
    waiting: Pier,
}

#[derive(Debug)]
struct Pier {
    free: Arc<Semaphore>,
    all: u32,
}

impl Pier {
    fn new(all: usize) -> Pier {
        Pier {
            free: Arc::new(Semaphore::new(all)),
            all: u32::try_from(all).unwrap_or(u32::MAX),
        }
    }

    fn take(&self) -> Option<OwnedSemaphorePermit> {
        self.free.clone().try_acquire_owned().ok()
    }

    fn taken(&self) -> usize {
        let all = usize::try_from(self.all).unwrap_or(usize::MAX);
        all.saturating_sub(self.free.available_permits())
    }
}

impl Berths {
    /// So many for those that work, and so many for those that wait.
    pub fn new(working: usize, waiting: usize) -> Arc<Berths> {
        Arc::new(Berths {
            working: Pier::new(working),
            waiting: Pier::new(waiting),
        })
    }

    /// A place to work at, if one is free.
    pub fn take(self: &Arc<Berths>) -> Option<Berth> {
        Some(Berth {
            held: self.working.take()?,
            waits: false,
            berths: self.clone(),
        })
    }

    /// How many work, and how many wait.
    pub fn load(&self) -> (usize, usize) {
        (self.working.taken(), self.waiting.taken())
    }

    /// Ends when nobody has a place any more.
    pub async fn empty(&self) {
        let working = self.working.free.acquire_many(self.working.all).await;
        // Nobody can go back to work by now, and so nobody leaves unseen.
        let _ = self.waiting.free.acquire_many(self.waiting.all).await;
        drop(working);
    }
}

/// A place.
#[derive(Debug)]
pub(crate) struct Berth {
    held: OwnedSemaphorePermit,
    waits: bool,
    berths: Arc<Berths>,
}

impl Berth {
    /// Leaves the place to somebody who works, for one among those that wait; whether there is one.
    pub fn wait(&mut self) -> bool {
        if !self.waits
            && let Some(place) = self.berths.waiting.take()
        {
            self.held = place;
            self.waits = true;
        }
        self.waits
    }

    /// The wait is over. Where nobody leaves room among those that work, the place stays what it is: whoever holds a
    /// team's lock must not be kept from its end by those that wait for the lock.
    pub fn work(&mut self) {
        if self.waits
            && let Some(place) = self.berths.working.take()
        {
            self.held = place;
            self.waits = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_waits_leaves_its_place_to_others_and_is_never_kept_from_working_on() {
        let berths = Berths::new(1, 1);
        let mut one = berths.take().unwrap();
        assert!(berths.take().is_none());
        assert_eq!(berths.load(), (1, 0));
        assert!(one.wait());
        assert!(one.wait(), "it has its place already");
        assert_eq!(berths.load(), (0, 1));
        let mut other = berths.take().unwrap();
        assert!(!other.wait(), "there is one place to wait at");
        one.work();
        assert!(berths.take().is_none());
        drop(other);
        // It could not go back, and holds one of the places until its end.
        assert!(one.waits);
        one.work();
        assert!(berths.take().is_none());
        drop(one);
        assert!(berths.take().unwrap().wait());
    }

    #[test]
    fn they_are_empty_once_everybody_left() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        let is_empty = |berths: &Arc<Berths>| {
            let soon = std::time::Duration::from_millis(1);
            runtime.block_on(async { tokio::time::timeout(soon, berths.empty()).await.is_ok() })
        };
        let berths = Berths::new(2, 2);
        let (mut one, other) = (berths.take().unwrap(), berths.take().unwrap());
        assert!(one.wait());
        drop(other);
        assert!(!is_empty(&berths), "one waits");
        one.work();
        assert!(!is_empty(&berths), "one works");
        drop(one);
        assert!(is_empty(&berths));
    }
}
