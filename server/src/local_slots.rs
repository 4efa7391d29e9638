//! Slots for upgraded connections. A connection that waits for something outside of the daemon takes a separate waiting
//! slot, so that it does not block the work that it waits for.

use crate::slots::Slots;
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;

#[derive(Debug)]
pub(crate) struct LocalSlots {
    working: Slots,
    waiting: Slots,
}

impl LocalSlots {
    /// Creates slots for `working` running and `waiting` waiting connections.
    pub fn new(working: usize, waiting: usize) -> Arc<LocalSlots> {
        Arc::new(LocalSlots {
            working: Slots::new(working),
            waiting: Slots::new(waiting),
        })
    }

    /// Takes a working slot. Returns `None` if none is free.
    pub fn take(self: &Arc<LocalSlots>) -> Option<LocalSlot> {
        Some(LocalSlot {
            held: self.working.take()?,
            waits: false,
            local_slots: self.clone(),
        })
    }

    /// Returns the numbers of working slots and waiting slots that are taken.
    pub fn load(&self) -> (usize, usize) {
        (self.working.taken(), self.waiting.taken())
    }

    /// Waits until all slots are free.
    pub async fn empty(&self) {
        let working = self.working.all().await;
        // No working slot can be taken any more, so no waiting connection can return to a working slot.
        let _ = self.waiting.all().await;
        drop(working);
    }
}

/// A taken slot.
#[derive(Debug)]
pub(crate) struct LocalSlot {
    held: OwnedSemaphorePermit,
    waits: bool,
    local_slots: Arc<LocalSlots>,
}

impl LocalSlot {
    /// Exchanges the working slot for a waiting slot. Returns false if no waiting slot is free.
    pub fn wait(&mut self) -> bool {
        if !self.waits
            && let Some(place) = self.local_slots.waiting.take()
        {
            self.held = place;
            self.waits = true;
        }
        self.waits
    }

    /// Returns to a working slot. If no working slot is free, the connection works with its waiting slot: a
    /// connection that holds the lock of a team must be able to finish even if all working slots are taken by
    /// connections that wait for this lock.
    pub fn work(&mut self) {
        if self.waits
            && let Some(place) = self.local_slots.working.take()
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
        let local_slots = LocalSlots::new(1, 1);
        let mut one = local_slots.take().unwrap();
        assert!(local_slots.take().is_none());
        assert_eq!(local_slots.load(), (1, 0));
        assert!(one.wait());
        assert!(one.wait(), "it has its place already");
        assert_eq!(local_slots.load(), (0, 1));
        let mut other = local_slots.take().unwrap();
        assert!(!other.wait(), "there is one place to wait at");
        one.work();
        assert!(local_slots.take().is_none());
        drop(other);
        // No working slot was free, so the connection keeps its waiting slot until its end.
        assert!(one.waits);
        one.work();
        assert!(local_slots.take().is_none());
        drop(one);
        assert!(local_slots.take().unwrap().wait());
    }

    #[test]
    fn they_are_empty_once_everybody_left() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        let is_empty = |local_slots: &Arc<LocalSlots>| {
            let soon = std::time::Duration::from_millis(1);
            runtime.block_on(async {
                tokio::time::timeout(soon, local_slots.empty())
                    .await
                    .is_ok()
            })
        };
        let local_slots = LocalSlots::new(2, 2);
        let (mut one, other) = (local_slots.take().unwrap(), local_slots.take().unwrap());
        assert!(one.wait());
        drop(other);
        assert!(!is_empty(&local_slots), "one waits");
        one.work();
        assert!(!is_empty(&local_slots), "one works");
        drop(one);
        assert!(is_empty(&local_slots));
    }
}
