//! Slots for connections. If no slot is free, the unauthenticated connection that was idle for the longest time is
//! closed. For this reason, clients without a token cannot block clients with a token.

use crate::slots::Slots;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

/// Connection slots of one listener.
#[derive(Debug)]
pub(crate) struct ConnectionSlots {
    pub slots: Slots,
    unauthenticated: Mutex<Unauthenticated>,
}

/// Unauthenticated connections, in the order of their last request.
#[derive(Debug, Default)]
struct Unauthenticated {
    turn: u64,
    waiting: BTreeMap<u64, CancellationToken>,
}

impl ConnectionSlots {
    pub fn new(all: usize) -> Arc<ConnectionSlots> {
        Arc::new(ConnectionSlots {
            slots: Slots::new(all),
            unauthenticated: Mutex::default(),
        })
    }

    /// Closes an unauthenticated connection. Returns false if there is none. The slot is free after the connection ended.
    pub fn make_room(&self) -> bool {
        match self.unauthenticated().waiting.pop_first() {
            Some((_, away)) => {
                away.cancel();
                true
            }
            None => false,
        }
    }

    /// Adds a new connection, which is unauthenticated.
    pub fn unauthenticated_connection(
        self: &Arc<ConnectionSlots>,
        slot: Option<OwnedSemaphorePermit>,
    ) -> Arc<Connection> {
        let away = CancellationToken::new();
        let turn = self.unauthenticated().add(away.clone());
        Arc::new(Connection {
            slots: Some(self.clone()),
            turn: AtomicU64::new(turn),
            away,
            _slot: slot,
        })
    }

    fn unauthenticated(&self) -> MutexGuard<'_, Unauthenticated> {
        self.unauthenticated
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Unauthenticated {
    fn add(&mut self, away: CancellationToken) -> u64 {
        self.turn += 1;
        self.waiting.insert(self.turn, away);
        self.turn
    }
}

/// State of a connection.
#[derive(Debug)]
pub(crate) struct Connection {
    /// Slots of the listener. `None` for a connection that needs no token.
    slots: Option<Arc<ConnectionSlots>>,
    turn: AtomicU64,
    away: CancellationToken,
    /// The slot of the connection. It is freed when the connection ends.
    _slot: Option<OwnedSemaphorePermit>,
}

impl Connection {
    /// Makes a connection that needs no token.
    pub fn at_home(slot: Option<OwnedSemaphorePermit>) -> Arc<Connection> {
        Arc::new(Connection {
            slots: None,
            turn: AtomicU64::default(),
            away: CancellationToken::new(),
            _slot: slot,
        })
    }

    /// Records the start of a request. Connections with older requests count as idle for longer.
    pub fn asks(&self) {
        let Some(slots) = &self.slots else { return };
        let mut unauthenticated = slots.unauthenticated();
        if let Some(away) = unauthenticated.waiting.remove(&self.turn()) {
            self.turn
                .store(unauthenticated.add(away), Ordering::Relaxed);
        }
    }

    /// Marks the connection as authenticated. An authenticated connection is not closed to make room for another
    /// connection.
    pub fn is_known(&self) {
        if let Some(slots) = &self.slots {
            slots.unauthenticated().waiting.remove(&self.turn());
        }
    }

    /// Waits until the slot is needed for another connection.
    pub async fn sent_away(&self) {
        self.away.cancelled().await;
    }

    /// Returns the order number of the last request. The caller holds the lock of the unauthenticated connections.
    fn turn(&self) -> u64 {
        self.turn.load(Ordering::Relaxed)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.is_known();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_asked_nothing_for_the_longest_time_goes_first_and_the_known_stay() {
        let slots = ConnectionSlots::new(4);
        let connections: Vec<_> = (0..4)
            .map(|_| slots.unauthenticated_connection(None))
            .collect();
        connections[0].asks();
        connections[1].is_known();
        // An authenticated connection stays authenticated for its next request.
        connections[1].asks();
        let gone = || -> Vec<usize> {
            let gone = (0..4).filter(|at| connections[*at].away.is_cancelled());
            gone.collect()
        };
        for expected in [&[2][..], &[2, 3], &[0, 2, 3]] {
            assert!(slots.make_room());
            assert_eq!(gone(), expected);
        }
        assert!(!slots.make_room());
        assert_eq!(gone(), [0, 2, 3]);
    }

    #[test]
    fn who_left_makes_no_room() {
        let slots = ConnectionSlots::new(1);
        drop(slots.unauthenticated_connection(None));
        assert!(!slots.make_room());
        let home = Connection::at_home(None);
        home.asks();
        assert!(!slots.make_room());
        assert!(!home.away.is_cancelled());
    }
}
