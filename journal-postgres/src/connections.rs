//! A small pool of connections, for all logs of a process.

use crate::append_queue::AppendQueue;
use crate::call_error::CallError;
use crate::config::Config;
use crate::connection::Connection;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use teamlog_engine::JournalFault::Unreachable;
use teamlog_engine::journal::Term;
use teamlog_engine::{Error, Result};

/// Largest number of open connections; further callers wait.
const CONNECTIONS_MAX: usize = 4;

/// The pool shared by all handles of one journal.
pub struct Connections {
    pub config: Config,
    pub journal: String,
    /// The last known term: a server in an earlier term is a former primary.
    last_term: Mutex<Term>,
    pool: Mutex<Pool>,
    given_back: Condvar,
    /// A lock that a caller holds while it confirms a read. A barrier is valid for all callers that asked before the barrier
    /// was sent.
    confirming: Mutex<()>,
    pub queue: AppendQueue,
}

#[derive(Default)]
struct Pool {
    idle: Vec<Connection>,
    open: usize,
    /// Number of the trusted server, changed with each new trusted server. A connection with another number is dropped.
    generation: u64,
    /// Index and term of the trusted server.
    believed: Option<(usize, Term)>,
    /// Time at which the last acknowledged barrier was sent to the trusted server.
    fenced: Option<Instant>,
    /// The server that was trusted last and failed.
    avoid: Option<usize>,
}

/// The right to have one open connection.
struct Slot<'a>(&'a Connections);

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.0.lose(1);
    }
}

impl Pool {
    /// Trusts no server until the next connection is open. Returns the idle connections, which the caller drops.
    fn distrust(&mut self) -> Vec<Connection> {
        self.generation += 1;
        self.fenced = None;
        self.avoid = self.believed.take().map(|(server, _)| server);
        std::mem::take(&mut self.idle)
    }

    fn note_fence(&mut self, connection: &Connection) {
        if connection.generation == self.generation {
            self.fenced = self.fenced.max(Some(connection.fenced()));
        }
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
            confirming: Mutex::default(),
            queue: AppendQueue::new(CONNECTIONS_MAX),
        }
    }

    /// Calls `work` with a recently fenced connection; opens a new connection if there is none. If `work` reports that the connection is
    /// broken, drops this connection and all idle connections: the server may have closed all connections, or may no longer be the deciding
    /// server.
    pub fn with<A>(&self, work: impl FnOnce(&mut Connection) -> (A, bool)) -> Result<A> {
        let (slot, mut connection) = self.fenced()?;
        let (answer, spent) = work(&mut connection);
        match spent {
            true => self.distrust(&connection),
            false => self.give_back(slot, connection),
        }
        Ok(answer)
    }

    /// Returns an idle connection after its fence, if a fence is due. If there is no idle connection, opens a new one.
    fn fenced(&self) -> Result<(Slot<'_>, Connection)> {
        let (idle, avoid) = {
            let mut pool = self.pool();
            while pool.idle.is_empty() && pool.open >= CONNECTIONS_MAX {
                let waited = self.given_back.wait(pool);
                pool = waited.unwrap_or_else(PoisonError::into_inner);
            }
            let idle = pool.idle.pop();
            pool.open += usize::from(idle.is_none());
            (idle, pool.avoid)
        };
        // Dropping the slot frees its place, also after a panic of the caller.
        let slot = Slot(self);
        let mut avoid = avoid;
        if let Some(mut connection) = idle {
            match connection.fence_if_due(|term| self.expect_term(term)) {
                Ok(()) => return Ok((slot, connection)),
                Err(_) => avoid = Some(connection.server),
            }
            self.distrust(&connection);
        }
        let last_term = |term| self.expect_term(term);
        let mut opened = Connection::connect(&self.config, &self.journal, avoid, last_term)?;
        self.believe(&mut opened);
        Ok((slot, opened))
    }

    /// Trusts the server of a new connection. Drops the connections of another server.
    fn believe(&self, connection: &mut Connection) {
        let server = (connection.server, connection.term());
        let mut pool = self.pool();
        let dropped = match pool.believed {
            Some(believed) if believed != server => pool.distrust(),
            _ => Vec::new(),
        };
        pool.believed = Some(server);
        connection.generation = pool.generation;
        pool.note_fence(connection);
        drop(pool);
        self.lose(dropped.len());
    }

    /// Stops trusting the server of the connection.
    fn distrust(&self, connection: &Connection) {
        let mut pool = self.pool();
        let dropped = match connection.generation == pool.generation {
            true => pool.distrust(),
            false => Vec::new(),
        };
        drop(pool);
        self.lose(dropped.len());
    }

    fn give_back(&self, slot: Slot<'_>, connection: Connection) {
        let mut pool = self.pool();
        pool.note_fence(&connection);
        if connection.generation == pool.generation {
            std::mem::forget(slot);
            pool.idle.push(connection);
            self.given_back.notify_one();
        } else {
            // Unlock the pool, because dropping the slot locks it.
            drop(pool);
        }
    }

    /// Runs a request that may be repeated. Repeats the request if its connection was closed: a server closes idle connections
    /// when the server restarts, or is no longer the deciding server.
    pub fn ask<A>(&self, ask: impl Fn(&mut Connection) -> Result<A, CallError>) -> Result<A> {
        let mut first = None;
        loop {
            let asked = self.with(|connection| {
                let answer = ask(connection);
                let spent = matches!(answer, Err(CallError::Gone(_) | CallError::Unfit(..)));
                (answer, spent)
            });
            match asked? {
                Err(lost @ (CallError::Gone(_) | CallError::Unfit(..))) if first.is_none() => {
                    first = Some(lost);
                }
                answer => return Ok(answer?),
            }
        }
    }

    /// Confirms that the server of the connection `generation` was still the deciding server after `since`. A barrier is valid
    /// for all callers that asked before the barrier was sent.
    pub fn confirm(&self, generation: u64, since: Instant) -> Result<()> {
        let _alone = self
            .confirming
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if self.is_confirmed(generation, since)? {
            return Ok(());
        }
        self.with(|connection| {
            let fenced = self.fence_since(connection, since);
            let spent = fenced.is_err();
            (fenced, spent)
        })??;
        match self.is_confirmed(generation, since)? {
            true => Ok(()),
            false => Err(Error::journal(
                Unreachable,
                "the barrier commit took too long",
            )),
        }
    }

    /// Fences a connection unless it was fenced after `since`.
    pub fn fence_since(
        &self,
        connection: &mut Connection,
        since: Instant,
    ) -> Result<(), CallError> {
        match connection.fenced() >= since {
            true => Ok(()),
            false => connection.fence(|term| self.expect_term(term)),
        }
    }

    fn is_confirmed(&self, generation: u64, since: Instant) -> Result<bool> {
        let pool = self.pool();
        if pool.generation != generation {
            let why = "the server that answered is no longer the primary";
            return Err(Error::journal(Unreachable, why));
        }
        Ok(pool.fenced.is_some_and(|fenced| fenced >= since))
    }

    /// Makes `term` the last known term, unless `term` is earlier. Returns the last known term. A server in an earlier term is a former
    /// primary.
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
        if connections == 0 {
            return;
        }
        self.pool().open -= connections;
        self.given_back.notify_all();
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
