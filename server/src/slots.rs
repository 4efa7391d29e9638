//! A semaphore with a known number of permits.

use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

#[derive(Debug)]
pub(crate) struct Slots {
    free: Arc<Semaphore>,
    all: u32,
}

impl Slots {
    pub fn new(all: usize) -> Slots {
        // A semaphore acquires at most `u32::MAX` permits in one call.
        let all = u32::try_from(all.min(Semaphore::MAX_PERMITS)).unwrap_or(u32::MAX);
        Slots {
            free: Arc::new(Semaphore::new(usize::try_from(all).unwrap_or(usize::MAX))),
            all,
        }
    }

    /// Takes a slot, if one is free.
    pub fn take(&self) -> Option<OwnedSemaphorePermit> {
        self.free.clone().try_acquire_owned().ok()
    }

    /// Waits for a free slot, in the order of requests. Returns `None` if the slots were closed.
    pub fn next(&self) -> impl Future<Output = Option<OwnedSemaphorePermit>> + Send + use<> {
        let free = self.free.clone();
        async move { free.acquire_owned().await.ok() }
    }

    /// Returns the number of taken slots.
    pub fn taken(&self) -> usize {
        let all = usize::try_from(self.all).unwrap_or(usize::MAX);
        all.saturating_sub(self.free.available_permits())
    }

    /// Waits until all slots are free, and takes all of them. No other request gets a slot meanwhile.
    pub async fn all(&self) -> Option<SemaphorePermit<'_>> {
        self.free.acquire_many(self.all).await.ok()
    }

    /// Closes the slots, so that no further slot can be taken.
    pub fn close(&self) {
        self.free.close();
    }
}
