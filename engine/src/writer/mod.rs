//! Appending: group commit by leader and followers under one lock.
//!
//! The first caller becomes the leader. The leader runs its own job and the queued jobs, writes all their events as one group
//! with one sync, and answers all callers. Then the first caller that queued during the sync becomes the leader.

pub(crate) mod active;
mod checks;
pub(crate) mod core;
mod counts;
mod deferred;
mod ending;
pub(crate) mod group;
mod handover;
mod journaled;
mod reservation;
mod rotation;
mod round;
#[cfg(test)]
mod round_test;

pub use counts::{JOBS_OF_GROUPS, WriterCounts};
pub use deferred::UNSYNCED_BYTES_MAX;
pub use reservation::Room;

use crate::prelude::*;
use crate::reader::Reader;
use core::Core;
use handover::{Taker, handover};
use round::{Job, Queue, Queued, Reply, Round, Sequel, Waiting};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Time at which an append is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// The append is acknowledged after the sync and the head write. The default.
    #[default]
    Synced,
    /// The append is acknowledged at once. The events are written in a group of at least 1 MiB (while the next group fills), with the next
    /// synced append, on `sync`, on `close`, or before the log is read. In-process only.
    Buffered,
}

/// State that decisions read, and that the writer keeps up to date.
pub trait State: Send + 'static {
    /// Folds events that are about to be written. The events are not durable yet, so only later decisions of this writer may see
    /// them.
    ///
    /// # Errors
    /// An error ends the writer before any part of the group is written.
    fn apply(&mut self, events: &[Event<'static>]) -> Result<()>;
    /// Called under the lock when the group is durable and the head names it, before any caller is answered. `events` are the
    /// events of the group, with their `places` and `crcs`.
    fn committed(&mut self, head: &Head, events: &[Event<'static>], places: &[Place], crcs: &[u32]);
    /// Called once, before any `apply`, if a journal orders the groups. Afterwards applied events may be retracted until they are
    /// committed.
    fn allow_retract(&mut self);
    /// Forgets events that were applied but not committed.
    fn retract(&mut self);
}

impl State for () {
    fn apply(&mut self, _: &[Event<'static>]) -> Result<()> {
        Ok(())
    }
    fn committed(&mut self, _: &Head, _: &[Event<'static>], _: &[Place], _: &[u32]) {}
    fn allow_retract(&mut self) {}
    fn retract(&mut self) {}
}

/// A committed job.
#[derive(Debug)]
pub struct Commit<R> {
    /// The job's answer.
    pub answer: R,
    /// The job's events as recorded; empty if the job wrote none.
    pub events: Vec<Event<'static>>,
}

/// Result of an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppendedGroup {
    /// Seq of the group's first event.
    pub first_seq: u64,
    /// Seq of the group's last event.
    pub last_seq: u64,
    /// Id of the group's last event.
    pub last_id: EventId,
}

/// Reason for which a job was not committed.
#[derive(Debug, thiserror::Error)]
pub enum CommitError<E> {
    /// The job itself refused; no event was written for it.
    #[error("{0}")]
    Refused(E),
    /// Another host recorded first, so no event was recorded for this job. Decide the job again.
    #[error("{0}")]
    Conflict(Error),
    /// The log failed. The job's events may be durable if a part of its group was written.
    #[error("{0}")]
    Failed(Error),
}

impl<E> From<Error> for CommitError<E> {
    fn from(error: Error) -> Self {
        match error {
            Error::Journal {
                fault: JournalFault::Conflict,
                ..
            } => CommitError::Conflict(error),
            error => CommitError::Failed(error),
        }
    }
}

/// The one writer of a log in this process, for any number of threads. Holds the log's lock until the writer is closed or
/// dropped.
pub struct Writer<S: State> {
    core: Mutex<Core<S>>,
    queue: Mutex<Queue<S>>,
    /// Notified when as many jobs have queued as a waiting leader expects.
    gathered: Condvar,
    journaled: bool,
}

impl<S: State> Writer<S> {
    pub(crate) fn new(core: Core<S>) -> Writer<S> {
        Writer {
            journaled: core.replica.is_some(),
            gathered: Condvar::new(),
            core: Mutex::new(core),
            queue: Mutex::new(Queue::default()),
        }
    }

    /// Runs `job` on the current state under the writer, and appends its events as part of one atomic group. Answers after these
    /// events, and all events that the job saw, are durable. An empty list of events writes nothing.
    ///
    /// # Errors
    /// `Refused` with the job's own error, `Failed` if the log failed.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::{path::Path, sync::Arc};
    /// # use teamlog_engine::storage::Memory;
    /// # use teamlog_engine::*;
    /// # let storage = Arc::new(Memory::new());
    /// # let log = Log::create(storage, Path::new("shop"), NewLog::new("shop"), LogOptions::default())?;
    /// /// The number of sold tickets.
    /// struct Sold(u32);
    ///
    /// impl State for Sold {
    ///     fn apply(&mut self, events: &[Event<'static>]) -> Result<()> {
    ///         self.0 += events.len() as u32;
    ///         Ok(())
    ///     }
    ///     fn committed(&mut self, _: &Head, _: &[Event<'static>], _: &[Place], _: &[u32]) {}
    ///     fn allow_retract(&mut self) {}
    ///     fn retract(&mut self) {}
    /// }
    ///
    /// let writer = log.lock()?.into_writer(Sold(0));
    /// let sell = || {
    ///     let sold = NewEvent::new("ticket_sold", "shop", Json::from_canonical("{}".to_owned()));
    ///     writer.commit(Durability::Synced, |state: &Sold, _now| match state.0 {
    ///         0..2 => Ok((state.0 + 1, vec![sold])),
    ///         _ => Err("sold out"),
    ///     })
    /// };
    /// assert_eq!(sell().map(|done| done.answer).ok(), Some(1));
    /// assert_eq!(sell().map(|done| done.answer).ok(), Some(2));
    /// assert!(matches!(sell(), Err(CommitError::Refused("sold out"))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn commit<R, E, F>(
        &self,
        durability: Durability,
        job: F,
    ) -> Result<Commit<R>, CommitError<E>>
    where
        R: Send + 'static,
        E: Send + 'static,
        F: FnOnce(&S, Timestamp) -> Result<(R, Vec<NewEvent>), E> + Send + 'static,
    {
        self.carry_out(Job::new(durability, Box::new(job), None))
    }

    /// Like [`Writer::commit`], with a second step: after the job's events are stamped and folded, `sequel` sees these events
    /// and the state after them. `sequel` may complete the answer, and may return more events for the same group, within
    /// `room`. `sequel` is also called if the job recorded no events. All events of the job have the time that `job` was given,
    /// or follow that time microsecond by microsecond.
    ///
    /// # Errors
    /// The errors of [`Writer::commit`]; `TooLarge`, before anything is folded, if a group cannot hold the job's events and
    /// `room`. The handle ends if an event of `sequel` breaks a rule, or if its events need more than `room`.
    pub fn commit_with<R, E, F, G>(
        &self,
        durability: Durability,
        room: Room,
        job: F,
        sequel: G,
    ) -> Result<Commit<R>, CommitError<E>>
    where
        R: Send + 'static,
        E: Send + 'static,
        F: FnOnce(&S, Timestamp) -> Result<(R, Vec<NewEvent>), E> + Send + 'static,
        G: FnOnce(&S, &mut R, &[Event<'static>]) -> Vec<NewEvent> + Send + 'static,
    {
        let step = Box::new(sequel);
        let sequel = Some(Sequel { room, step });
        self.carry_out(Job::new(durability, Box::new(job), sequel))
    }

    fn carry_out<R: Send + 'static, E: Send + 'static>(
        &self,
        mut job: Job<S, R, E>,
    ) -> Result<Commit<R>, CommitError<E>> {
        if self.journaled {
            // A log with a journal has no buffered answers, because a group counts only after the journal has it.
            job.wait_for_sync();
        }
        if let Some(waiting) = self.enqueue(&mut job) {
            match waiting.take() {
                Some(Reply::Answer(answer)) => return answer,
                Some(Reply::Lead(own)) => job = own,
                // The leader panicked. The next process that opens the log finds out which part of the leader's group was
                // written.
                None => {
                    return Err(CommitError::Failed(Error::Poisoned(
                        "a writing thread panicked".into(),
                    )));
                }
            }
        }
        self.run_as_leader(job)
    }

    /// Appends events without a decision.
    ///
    /// # Errors
    /// The log fails, or an event breaks a limit or a rule.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::{path::Path, sync::Arc};
    /// # use teamlog_engine::storage::Memory;
    /// # use teamlog_engine::*;
    /// # let storage = Arc::new(Memory::new());
    /// # let log = Log::create(storage, Path::new("audit"), NewLog::new("audit"), LogOptions::default())?;
    /// let writer = log.lock()?.into_writer(());
    /// let event = |kind: &'static str| NewEvent::new(kind, "agent-1", Json::from_canonical("{}".to_owned()));
    /// // Two events in one group: after a crash both are there, or none is.
    /// let group = writer.append(vec![event("started"), event("ended")], Durability::Synced)?;
    /// assert_eq!(group.map(|group| group.last_seq), Some(2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn append(
        &self,
        events: Vec<NewEvent>,
        durability: Durability,
    ) -> Result<Option<AppendedGroup>> {
        if durability == Durability::Synced || self.journaled {
            return match self.commit(Durability::Synced, move |_, _| {
                Ok::<_, std::convert::Infallible>(((), events))
            }) {
                Ok(done) => Ok(done
                    .events
                    .last()
                    .map(|last| appended(last.seq, last.id, done.events.len()))),
                Err(CommitError::Failed(error) | CommitError::Conflict(error)) => Err(error),
                Err(CommitError::Refused(never)) => match never {},
            };
        }
        let mut core = self.locked();
        core.usable()?;
        let now = core.now();
        let count = core.push(now, events)?;
        let answer = core
            .pending
            .last()
            .filter(|_| count > 0)
            .map(|last| appended(last.seq, last.id, count));
        core.start_write_if_due()?;
        Ok(answer)
    }

    /// Calls `read` with the state between groups. `read` may also maintain the state.
    pub fn with_state<R>(&self, read: impl FnOnce(&mut S) -> R) -> R {
        read(&mut self.locked().state)
    }

    /// Like [`Writer::with_state`], with a reader of the log up to the same head. Buffered events are written first. If that
    /// write fails, the state is ahead of the reader.
    pub fn with_reader<R>(&self, read: impl FnOnce(&mut S, &Reader) -> R) -> R {
        let mut core = self.locked();
        // The error is stored, and every later write returns it.
        let _ = core.flush();
        let reader = core.reader();
        read(&mut core.state, &reader)
    }

    /// Like [`Writer::with_state`], but returns `None` at once if a group is being written.
    pub fn try_state<R>(&self, read: impl FnOnce(&mut S) -> R) -> Option<R> {
        let mut core = self.core.try_lock().ok()?;
        Some(read(&mut core.state))
    }

    /// Fails unless the log ends where this writer ended it. Costs two checks of files, which a busy writer makes anyway.
    ///
    /// # Errors
    /// `RolledBack`: an older state was restored; `LockLost`, `Corrupt`, I/O.
    pub fn check_end(&self) -> Result<()> {
        match self.core.try_lock() {
            Ok(core) => core.check_end(),
            Err(_) => Ok(()),
        }
    }

    /// Returns true if a failure ended this handle; every append fails from then on.
    pub fn is_poisoned(&self) -> bool {
        self.locked().poisoned.is_some()
    }

    /// Returns the error of a failed sync of this handle; `None` if no sync failed. After a failed sync the content of
    /// the disk is unknown, so this process must not open the log again.
    pub fn unsynced(&self) -> Option<String> {
        let core = self.locked();
        let poison = core.poisoned.as_ref().filter(|poison| poison.unsynced);
        poison.map(|poison| poison.why.clone())
    }

    /// Returns the counts of this handle.
    pub fn counts(&self) -> WriterCounts {
        self.locked().counts
    }

    /// Returns the current head.
    pub fn head(&self) -> Head {
        self.locked().head.clone()
    }

    /// Writes buffered events.
    pub fn sync(&self) -> Result<()> {
        self.locked().flush()
    }

    /// Writes buffered events, syncs the head, unlocks, and returns the state.
    pub fn close(self) -> Result<S> {
        let mut core = self.into_core();
        core.flush()?;
        core.assert_all_written();
        core.undo_ahead();
        core.sync_deferred()?;
        core.keep_cursor();
        core.head_file.sync()?;
        Ok(core.state)
    }

    /// Like [`Writer::close`], without syncing the head. The next open finds later groups, because the head is a lower bound of
    /// the durable end. For a command that writes once and ends, a second sync would double its cost.
    pub fn release(self) -> Result<S> {
        let mut core = self.into_core();
        core.flush()?;
        core.assert_all_written();
        core.undo_ahead();
        core.keep_cursor();
        Ok(core.state)
    }

    fn locked(&self) -> MutexGuard<'_, Core<S>> {
        self.core.lock().unwrap_or_else(|panicked| {
            let mut core = panicked.into_inner();
            core.poison();
            core
        })
    }

    fn into_core(self) -> Core<S> {
        self.core.into_inner().unwrap_or_else(|panicked| {
            let mut core = panicked.into_inner();
            core.poison();
            core
        })
    }

    fn queue(&self) -> MutexGuard<'_, Queue<S>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues the job if another thread leads; if no thread leads, the caller leads from now on.
    fn enqueue<R: Send + 'static, E: Send + 'static>(
        &self,
        job: &mut Job<S, R, E>,
    ) -> Option<Taker<Reply<S, R, E>>> {
        let mut queue = self.queue();
        if !queue.led {
            queue.led = true;
            return None;
        }
        let (reply, waiting) = handover();
        queue.waiting.push_back(Box::new(Waiting {
            job: job.take(),
            reply,
        }));
        let complete = queue.waiting.len() == queue.expected;
        drop(queue);
        if complete {
            self.gathered.notify_one();
        }
        Some(waiting)
    }

    fn run_as_leader<R, E>(&self, mut own: Job<S, R, E>) -> Result<Commit<R>, CommitError<E>> {
        debug_assert!(self.queue().led, "only the leader may write");
        let _lead = Lead(self);
        if own.durability() == Durability::Synced {
            // Wait before the state is locked, so that readers of the state are not delayed.
            self.wait_for_followers();
        }
        let mut core = self.locked();
        let start = core.begin_round();
        core.collect_events = true;
        own.run(&mut core);
        let mut followers: Vec<Box<dyn Queued<S>>> = Vec::new();
        if own.durability() == Durability::Synced {
            let mut queue = self.queue();
            followers.extend(std::mem::take(&mut queue.waiting));
            queue.followed = followers.len();
            drop(queue);
            for job in &mut followers {
                job.run(&mut core);
            }
        }
        let synced = own.durability() == Durability::Synced
            || followers
                .iter()
                .any(|job| job.durability() == Durability::Synced);
        let followed = followers.iter().filter(|job| job.recorded()).count();
        core.jobs += followed + usize::from(own.recorded());
        let flushed = match (core.usable(), &core.ended) {
            (Ok(()), Some(ended)) => Err(ended.again()),
            (Ok(()), None) if synced => core.flush(),
            (Ok(()), None) => core.start_write_if_due(),
            (failed, _) => failed,
        };
        core.collect_events = false;
        let durable = core.head.last_seq;
        let written = std::mem::take(&mut core.written);
        let (failed, unconfirmed) = match flushed {
            Ok(()) => (core.confirm(start).err(), true),
            Err(error) => (Some(error), false),
        };
        let mut round = Round {
            durable,
            written,
            failed,
            unconfirmed,
        };
        drop(core);
        let answer = own.answer(&mut round);
        for job in followers {
            job.answer(&mut round);
        }
        answer
    }

    /// Waits until as many followers have queued as in the last round. Otherwise rounds would alternate between one job and all
    /// other jobs. Stops if no further follower comes within `FOLLOWER_WAIT`.
    fn wait_for_followers(&self) {
        let started = Instant::now();
        let mut queue = self.queue();
        queue.expected = queue.followed;
        while let Some(left) = FOLLOWERS_WAIT_MAX.checked_sub(started.elapsed()) {
            let before = queue.waiting.len();
            if before >= queue.expected {
                break;
            }
            let quiet = self.gathered.wait_timeout(queue, FOLLOWER_WAIT.min(left));
            queue = quiet.unwrap_or_else(PoisonError::into_inner).0;
            if queue.waiting.len() == before {
                break;
            }
        }
        queue.expected = 0;
    }
}

/// Time that a leader waits for one more follower.
const FOLLOWER_WAIT: Duration = Duration::from_micros(100);
/// Time that a leader waits for all followers.
const FOLLOWERS_WAIT_MAX: Duration = Duration::from_millis(2);

fn appended(last_seq: u64, last_id: EventId, count: usize) -> AppendedGroup {
    AppendedGroup {
        first_seq: last_seq + 1 - count as u64,
        last_seq,
        last_id,
    }
}

/// Passes leadership on when the value is dropped: at the end of a round, also after a panic.
struct Lead<'a, S: State>(&'a Writer<S>);

impl<S: State> Drop for Lead<'_, S> {
    fn drop(&mut self) {
        let mut queue = self.0.queue();
        match queue.waiting.pop_front() {
            Some(next) => next.promote(),
            None => queue.led = false,
        }
    }
}
