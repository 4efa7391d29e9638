//! A few connections, for all logs of a process.

use crate::config::Config;
use crate::connection::Connection;
use crate::gathered::Gathered;
use crate::lost::Lost;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
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
    /// Held while one caller confirms a read: its barrier serves all that asked before it was sent.
    confirming: Mutex<()>,
    pub gathered: Gathered,
}

#[derive(Default)]
struct Pool {
    idle: Vec<Connection>,
    open: usize,
    /// Number of the server that is believed, counted anew with each change. A connection of another number is dropped.
    generation: u64,
    /// The server that is believed, by its index, and its term.
    believed: Option<(usize, Term)>,
    /// Time at which the last barrier was sent there that was acknowledged.
    fenced: Option<Instant>,
    /// The server that was believed last and failed.
    avoid: Option<usize>,
}

/// One of the connections that may be open.
struct Slot<'a>(&'a Connections);

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.0.lose(1);
    }
}

impl Pool {
    /// Believes no server until the next connection is open. Returns the idle connections, to be dropped.
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
            gathered: Gathered::new(CONNECTIONS_MAX),
        }
    }

    /// Lets `work` have a connection that was fenced not long ago, opened if there is none. One that `work` says is spent is not
    /// used again, and none that was idle then: the server may have gone from all of them, or decide no more.
    pub fn with<A>(&self, work: impl FnOnce(&mut Connection) -> (A, bool)) -> Result<A> {
        let (slot, mut connection) = self.fenced()?;
        let (answer, spent) = work(&mut connection);
        match spent {
            true => self.distrust(&connection),
            false => self.give_back(slot, connection),
        }
        Ok(answer)
    }

    /// A connection that is idle and passes its fence where that is due, else a new one.
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
        // Lost unless it is given back, also after a panic of the caller.
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

    /// Believes the server of a new connection. Where another one was believed, its connections are dropped.
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

    /// Believes the server of that connection no more.
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
            // The slot takes the lock when it is dropped.
            drop(pool);
        }
    }

    /// Asks for what may be asked twice: a server that went away while nobody asked, or decides no more, takes its idle connections
    /// with it, and that alone says nothing.
    pub fn ask<A>(&self, ask: impl Fn(&mut Connection) -> Result<A, Lost>) -> Result<A> {
        let mut first = None;
        loop {
            let asked = self.with(|connection| {
                let answer = ask(connection);
                let spent = matches!(answer, Err(Lost::Gone(_) | Lost::Unfit(..)));
                (answer, spent)
            });
            match asked? {
                Err(lost @ (Lost::Gone(_) | Lost::Unfit(..))) if first.is_none() => {
                    first = Some(lost);
                }
                answer => return Ok(answer?),
            }
        }
    }

    /// Confirms that the server that answered with a connection of that generation still decided after `since`. A barrier serves
    /// all who asked before it was sent.
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
            false => Err(Error::journal(Unreachable, "its barrier came too late")),
        }
    }

    /// Fences a connection unless that was done after `since`.
    pub fn fence_since(&self, connection: &mut Connection, since: Instant) -> Result<(), Lost> {
        match connection.fenced() >= since {
            true => Ok(()),
            false => connection.fence(|term| self.expect_term(term)),
        }
    }

    fn is_confirmed(&self, generation: u64, since: Instant) -> Result<bool> {
        let pool = self.pool();
        if pool.generation != generation {
            let why = "the server that answered is no longer believed";
            return Err(Error::journal(Unreachable, why));
        }
        Ok(pool.fenced.is_some_and(|fenced| fenced >= since))
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
