//! Slots for connections: so many and no more. Where none is left, a connection that never showed a valid token is closed, the
//! one first that has asked nothing for the longest time. So nobody who reaches the port can keep out those who are let
//! in by a token: to hold a place against them takes a token too.

use crate::slots::Slots;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

/// The slots of one way in.
#[derive(Debug)]
pub(crate) struct ConnectionSlots {
    pub slots: Slots,
    unauthenticated: Mutex<Unauthenticated>,
}

/// Those who showed no token, by when they last asked something.
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

    /// Closes an unauthenticated connection; whether there was one. Its slot is free once it has ended.
    pub fn make_room(&self) -> bool {
        match self.unauthenticated().waiting.pop_first() {
            Some((_, away)) => {
                away.cancel();
                true
            }
            None => false,
        }
    }

    /// A new connection, which has yet to show a token.
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

/// Whoever is at the other end of a connection.
#[derive(Debug)]
pub(crate) struct Connection {
    /// None for one who needs no token to stay.
    slots: Option<Arc<ConnectionSlots>>,
    turn: AtomicU64,
    away: CancellationToken,
    /// Its place, which is free once nobody speaks on it any more.
    _slot: Option<OwnedSemaphorePermit>,
}

impl Connection {
    /// One who may stay without a token.
    pub fn at_home(slot: Option<OwnedSemaphorePermit>) -> Arc<Connection> {
        Arc::new(Connection {
            slots: None,
            turn: AtomicU64::default(),
            away: CancellationToken::new(),
            _slot: slot,
        })
    }

    /// A request has begun: others have been idle for longer.
    pub fn asks(&self) {
        let Some(slots) = &self.slots else { return };
        let mut unauthenticated = slots.unauthenticated();
        if let Some(away) = unauthenticated.waiting.remove(&self.turn()) {
            self.turn
                .store(unauthenticated.add(away), Ordering::Relaxed);
        }
    }

    /// A valid token was shown: this one stays.
    pub fn is_known(&self) {
        if let Some(slots) = &self.slots {
            slots.unauthenticated().waiting.remove(&self.turn());
        }
    }

    /// Ends when the place is needed for somebody else.
    pub async fn sent_away(&self) {
        self.away.cancelled().await;
    }

    /// Read and written under the lock of the unauthenticated connections only.
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
        // An authenticated connection stays so when it asks again.
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
