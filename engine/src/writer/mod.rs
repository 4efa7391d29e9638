//! Appending: group commit by leader and followers under one lock.
//!
//! Whoever comes first leads: it runs its own job and those that queued meanwhile, writes all their events as one
//! group with one sync, and answers everybody. Then the first of those who queued during the sync leads.

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
pub use reservation::Room;

use crate::prelude::*;
use crate::reader::Reader;
use core::Core;
use handover::{Taker, handover};
use round::{Job, Queue, Queued, Reply, Round, Sequel, Waiting};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// When an append is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// After the sync and the head write. The default.
    #[default]
    Synced,
    /// At once; goes out as part of a group of at least 1 MiB (while the next one fills), with the next synced append, on `sync`, on
    /// `close`, or before somebody reads the log. In-process only.
    Buffered,
}

/// What rides with the writer: state that decisions read.
pub trait State: Send + 'static {
    /// Folds events that are about to be written. Not yet durable: only later decisions of this writer may see them.
    ///
    /// # Errors
    /// An error kills the writer before anything of the group is written.
    fn apply(&mut self, events: &[Event<'static>]) -> Result<()>;
    /// The group is durable and the head names it; called under the lock before anyone is answered. `events` are those
    /// of the group, `places` and `crcs` theirs.
    fn committed(&mut self, head: &Head, events: &[Event<'static>], places: &[Place], crcs: &[u32]);
    /// From now on what is applied may be taken back until it is committed. Called once, before anything is applied, where a
    /// journal orders the groups.
    fn allow_retract(&mut self);
    /// Forgets what was applied and not committed.
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
    /// What the job answered.
    pub answer: R,
    /// Its events as they were recorded; empty if it wrote none.
    pub events: Vec<Event<'static>>,
}

/// What an append got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppendedGroup {
    /// Seq of its first event.
    pub first_seq: u64,
    /// Seq of its last event.
    pub last_seq: u64,
    /// Id of its last event.
    pub last_id: EventId,
}

/// Why a job was not committed.
#[derive(Debug, thiserror::Error)]
pub enum CommitError<E> {
    /// The job itself said no; nothing was written for it.
    #[error("{0}")]
    Refused(E),
    /// Another host recorded something first, and nothing was recorded for this job: it is to be decided again.
    #[error("{0}")]
    Conflict(Error),
    /// The log failed. Whether events of the job are durable is unknown if anything of its group was written.
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

/// The one writer of a log in this process, for any number of threads. Holds the log's lock until it is closed or dropped.
pub struct Writer<S: State> {
    core: Mutex<Core<S>>,
    queue: Mutex<Queue<S>>,
    /// As many have queued as a leader gathers.
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

    /// Runs `job` on current state under the writer, appends the events that it returns as part of one atomic group,
    /// and answers once they, and all that the job saw, are durable. An empty list of events writes nothing.
    ///
    /// # Errors
    /// `Refused` with the job's own error, `Failed` where the log failed.
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

    /// As [`Writer::commit`], with a second step: once the job's events are stamped and folded, `sequel` sees them and
    /// the state behind them, may complete the answer, and may give more events for the same group, as many as there is `room` for.
    /// It is called also if the job recorded nothing. All events of the job have the time that `job` was given, or follow it
    /// microsecond by microsecond.
    ///
    /// # Errors
    /// The errors of [`Writer::commit`]; `TooLarge`, before anything is folded, if a group cannot hold the job's events and
    /// `room`.
    /// The handle is dead if an event of `sequel` breaks a rule, or its events need more than `room`.
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
            // What is not in the journal is nowhere.
            job.wait_for_sync();
        }
        if let Some(waiting) = self.enqueue(&mut job) {
            match waiting.take() {
                Some(Reply::Answer(answer)) => return answer,
                Some(Reply::Lead(own)) => job = own,
                // The leader panicked; what it was writing is for the next open to find out.
                None => {
                    return Err(CommitError::Failed(Error::Poisoned(
                        "a writing thread panicked".into(),
                    )));
                }
            }
        }
        self.run_as_leader(job)
    }

    /// Appends events as they are.
    ///
    /// # Errors
    /// As the log fails, or where an event breaks a limit or a rule.
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

    /// Reads (or tends) the state between groups.
    pub fn with_state<R>(&self, read: impl FnOnce(&mut S) -> R) -> R {
        read(&mut self.locked().state)
    }

    /// The same, with a reader of the log up to the same head: what is buffered is written out first. Where that fails, the
    /// state is ahead of the reader.
    pub fn with_reader<R>(&self, read: impl FnOnce(&mut S, &Reader) -> R) -> R {
        let mut core = self.locked();
        // The failure is kept, and told to everyone who writes from then on.
        let _ = core.flush();
        let reader = core.reader();
        read(&mut core.state, &reader)
    }

    /// As [`Writer::with_state`], unless a group is being written: then `None`, at once.
    pub fn try_state<R>(&self, read: impl FnOnce(&mut S) -> R) -> Option<R> {
        let mut core = self.core.try_lock().ok()?;
        Some(read(&mut core.state))
    }

    /// Fails unless the log ends where this writer ended it. Two looks at files; a writer that is busy checks that itself.
    ///
    /// # Errors
    /// `RolledBack`: an older state was put back; `LockLost`, `Corrupt`, I/O.
    pub fn check_end(&self) -> Result<()> {
        match self.core.try_lock() {
            Ok(core) => core.check_end(),
            Err(_) => Ok(()),
        }
    }

    /// Whether a failure ended this handle; every append fails from then on.
    pub fn is_poisoned(&self) -> bool {
        self.locked().poisoned.is_some()
    }

    /// What the sync said that failed in this handle; `None` where none did. Nobody knows what the disk holds then, so
    /// the log is not to be opened again by this process.
    pub fn unsynced(&self) -> Option<String> {
        let core = self.locked();
        let poison = core.poisoned.as_ref().filter(|poison| poison.unsynced);
        poison.map(|poison| poison.why.clone())
    }

    /// What was written through this handle so far.
    pub fn counts(&self) -> WriterCounts {
        self.locked().counts
    }

    /// The head now.
    pub fn head(&self) -> Head {
        self.locked().head.clone()
    }

    /// Writes out what is buffered.
    pub fn sync(&self) -> Result<()> {
        self.locked().flush()
    }

    /// Writes out what is buffered, syncs the head, unlocks, and gives the state back.
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

    /// As [`Writer::close`], without syncing the head: it is a lower bound of what is durable, and the next open
    /// finds what lies past it. For a command that writes once and ends, a second sync would double its cost.
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

    /// Queues the job if another thread leads; otherwise the caller leads from now on.
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
            // Before the state is held, so that those who only read it are not held up.
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

    /// Waits until as many followers have queued as the last round had, so that rounds do not alternate between one job and all the
    /// others. Stops after `FOLLOWER_WAIT` without a new follower.
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

/// A leader waits this long for one more follower,
const FOLLOWER_WAIT: Duration = Duration::from_micros(100);
/// and this long for all of them.
const FOLLOWERS_WAIT_MAX: Duration = Duration::from_millis(2);

fn appended(last_seq: u64, last_id: EventId, count: usize) -> AppendedGroup {
    AppendedGroup {
        first_seq: last_seq + 1 - count as u64,
        last_seq,
        last_id,
    }
}

/// Hands leadership on when a round ends, also by a panic.
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
