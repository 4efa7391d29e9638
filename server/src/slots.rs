//! So many and no more: a semaphore that knows how many slots it has in all.

use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

#[derive(Debug)]
pub(crate) struct Slots {
    free: Arc<Semaphore>,
    all: u32,
}

impl Slots {
    pub fn new(all: usize) -> Slots {
        // No more than can be taken at once.
        let all = u32::try_from(all.min(Semaphore::MAX_PERMITS)).unwrap_or(u32::MAX);
        Slots {
            free: Arc::new(Semaphore::new(usize::try_from(all).unwrap_or(usize::MAX))),
            all,
        }
    }

    /// A slot, if one is free.
    pub fn take(&self) -> Option<OwnedSemaphorePermit> {
        self.free.clone().try_acquire_owned().ok()
    }

    /// The next slot that becomes free, in the order of asking; `None` once they are closed.
    pub fn next(&self) -> impl Future<Output = Option<OwnedSemaphorePermit>> + Send + use<> {
        let free = self.free.clone();
        async move { free.acquire_owned().await.ok() }
    }

    /// How many are taken.
    pub fn taken(&self) -> usize {
        let all = usize::try_from(self.all).unwrap_or(usize::MAX);
        all.saturating_sub(self.free.available_permits())
    }

    /// All of them, once they are free. Slots that come back go to this wait, so that nobody gets a new one.
    pub async fn all(&self) -> Option<SemaphorePermit<'_>> {
        self.free.acquire_many(self.all).await.ok()
    }

    /// Gives no more slots.
    pub fn close(&self) {
        self.free.close();
    }
}
