//! Appending: group commit by leader and followers under one lock.

use crate::error::{Error, Result};
use crate::event::{Event, NewEvent};
use crate::head::Head;
use crate::place::Place;
use crate::timestamp::Timestamp;

/// When an append is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// After the sync and the head write. The default.
    #[default]
    Synced,
    /// At once; goes out as part of a group at 1 MiB, with the next synced append, on `sync` or on `close`. In-process only.
    Buffered,
}

/// What rides with the writer: state that decisions read.
pub trait State: Send + 'static {
    /// Folds events that are about to be written. Not yet durable: must only be seen by later decisions of this writer.
    ///
    /// # Errors
    /// An error kills the writer before anything of the group is written.
    fn apply(&mut self, events: &[Event<'static>]) -> Result<()>;
    /// The group is durable and the head names it; called under the lock before anyone is answered. `events` are those
    /// of the group, `places` and `crcs` theirs.
    fn committed(&mut self, head: &Head, events: &[Event<'static>], places: &[Place], crcs: &[u32]);
}

impl State for () {
    fn apply(&mut self, _: &[Event<'static>]) -> Result<()> {
        Ok(())
    }
    fn committed(&mut self, _: &Head, _: &[Event<'static>], _: &[Place], _: &[u32]) {}
}

/// A committed job.
#[derive(Debug)]
pub struct Committed<R> {
    /// What the job answered.
    pub answer: R,
    /// Its events as they were recorded; empty if it wrote none.
    pub events: Vec<Event<'static>>,
}

/// Why a job was not committed.
#[derive(Debug)]
pub enum CommitError<E> {
    /// The job itself said no; nothing was written for it.
    Refused(E),
    /// The log failed.
    Failed(Error),
}

/// The one writer of a log in this process, for any number of threads.
pub struct Writer<S: State> {
    state: std::marker::PhantomData<S>,
}

impl<S: State> Writer<S> {
    /// Runs `job` on current state under the writer, appends the events that it returns as part of one atomic group,
    /// and answers once they are durable. The job may run more than once (it must be pure); an empty list of
    /// events writes nothing.
    ///
    /// # Errors
    /// `Refused` with the job's own error, `Failed` where the log failed.
    pub fn commit<R, E, F>(
        &self,
        durability: Durability,
        job: F,
    ) -> Result<Committed<R>, CommitError<E>>
    where
        R: Send + 'static,
        E: Send + 'static,
        F: FnMut(&S, Timestamp) -> Result<(R, Vec<NewEvent>), E> + Send + 'static,
    {
        let _ = (durability, job);
        todo!()
    }
    /// Reads the state (between groups).
    pub fn with_state<R>(&self, read: impl FnOnce(&mut S) -> R) -> R {
        let _ = read;
        todo!()
    }
    /// Writes out what is buffered.
    ///
    /// # Errors
    /// I/O.
    pub fn sync(&self) -> Result<()> {
        todo!()
    }
    /// Writes out what is buffered, syncs the head, unlocks, and gives the state back.
    ///
    /// # Errors
    /// I/O.
    pub fn close(self) -> Result<S> {
        todo!()
    }
    /// The head now.
    pub fn head(&self) -> Head {
        todo!()
    }
}
