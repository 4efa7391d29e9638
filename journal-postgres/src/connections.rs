//! A few connections, for all logs of a process.

use crate::config::Config;
use crate::connection::{Connection, Lost};
use crate::gathered::Gathered;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use teamlog_engine::JournalFault::Unreachable;
use teamlog_engine::journal::Term;
use teamlog_engine::{Error, Result};

/// At most so many are open at a time; whoever comes then waits.
const CONNECTIONS_MAX: usize = 4;

/// What is shared by all handles of one journal.
pub struct Connections {
    pub config: Config,
    pub journal: String,
    /// The last term that was seen: a server in one before is a former primary.
    last_term: Mutex<Term>,
    pool: Mutex<Pool>,
    given_back: Condvar,
    pub gathered: Gathered,
}

#[derive(Default)]
struct Pool {
    idle: Vec<Connection>,
    open: usize,
}

/// One of the connections that may be open.
struct Slot<'a>(&'a Connections);

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.0.lose(1);
    }
}

impl Connections {
    pub fn new(config: Config, journal: String) -> Connections {
        Connections {
            config,
            journal,
            last_term: Mutex::default(),
            pool: Mutex::default(),
            given_back: Condvar::new(),
            gathered: Gathered::new(CONNECTIONS_MAX),
        }
    }

    /// Lets `work` have a connection, opened if there is none. One that `work` says is spent is not used again, and none that
    /// was idle then: the server may have gone from all of them.
    pub fn with<A>(&self, work: impl FnOnce(&mut Connection) -> (A, bool)) -> Result<A> {
        let idle = {
            let mut pool = self.pool();
            while pool.idle.is_empty() && pool.open >= CONNECTIONS_MAX {
                let waited = self.given_back.wait(pool);
                pool = waited.unwrap_or_else(PoisonError::into_inner);
            }
            let idle = pool.idle.pop();
            pool.open += usize::from(idle.is_none());
            idle
        };
        let open =
            || Connection::connect(&self.config, &self.journal, |term| self.expect_term(term));
        let opened = idle.map_or_else(open, Ok);
        // Lost unless it is given back, also where `work` panics.
        let slot = Slot(self);
        let mut connection = opened?;
        let (answer, spent) = work(&mut connection);
        if spent {
            let idle = std::mem::take(&mut self.pool().idle);
            self.lose(idle.len());
        } else {
            std::mem::forget(slot);
            self.pool().idle.push(connection);
            self.given_back.notify_one();
        }
        Ok(answer)
    }

    /// Asks for what may be asked twice: a server that went away while nobody asked takes its idle connections with it, and
    /// that alone says nothing.
    pub fn ask<A>(&self, ask: impl Fn(&mut Connection) -> Result<A, Lost>) -> Result<A> {
        let mut why = String::new();
        for _ in 0..2 {
            let asked = self.with(|connection| {
                let answer = ask(connection);
                let spent = matches!(answer, Err(Lost::Gone(_)));
                (answer, spent)
            });
            match asked? {
                Err(Lost::Gone(gone)) => why = gone,
                answer => return Ok(answer?),
            }
        }
        Err(Error::journal(Unreachable, why))
    }

    /// The last term that is known, be it this one; whatever is in one before is a former primary.
    pub fn expect_term(&self, term: Term) -> Term {
        let mut last = self
            .last_term
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if !term.is_before(*last) {
            *last = term;
        }
        *last
    }

    fn lose(&self, connections: usize) {
        self.pool().open -= connections;
        self.given_back.notify_all();
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
