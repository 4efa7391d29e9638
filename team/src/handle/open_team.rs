//! A team that stays open between commands. One writer keeps the lock, the state and the views, and all handles of a process share the
//! writer.
//!
//! | writer slot | meaning |
//! |---|---|
//! | empty | there was no write yet, or a command on the whole log closed the writer, or the writer failed: the next command opens the log again, which recovers it |
//! | taken | the writer is open and holds the log's lock |
//! | dead | a sync failed: the content of the disk is unknown, and this process no longer writes to the team |

use crate::handle::prelude::*;
use crate::handle::root::RootOptions;
use crate::handle::team::{Question, input_fault};
use crossbeam_channel::{Sender, bounded};
use std::sync::{
    Condvar, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
    Weak,
};
use teamlog_engine::internals::layout::LOCK_FILE;
use teamlog_engine::{Commit, CommitError, Writer, WriterCounts};

/// Pause between two batches of view files. A file that changes often is written once per pause.
const VIEWS_PAUSE: Duration = Duration::from_millis(50);

/// Minimum wait for the writer slot after which a thread gives up, even if the lock deadline is shorter.
const QUEUED: Duration = Duration::from_millis(100);

/// Number of teams that are closed in parallel.
const CLOSED_AT_ONCE: usize = 16;

#[derive(Debug, Default)]
pub(crate) struct OpenTeams {
    teams: Mutex<BTreeMap<String, Arc<OpenTeam>>>,
}

pub(crate) struct OpenTeam {
    pub(super) slot: RwLock<WriterSlot>,
    /// Number of running commands that need the whole log. No writer is opened while such a command runs.
    pub(super) pauses: Mutex<usize>,
    resumed: Condvar,
    /// Wakes the thread that merges the state's runs.
    maintain: Sender<()>,
    /// Wakes the thread that writes view files after the answers; `None` if the thread could not be started.
    views: Option<Sender<()>>,
    /// Counts of earlier writers.
    before: Mutex<WriterCounts>,
}

#[expect(
    clippy::large_enum_variant,
    reason = "there is one slot a team, and nearly all of them are taken"
)]
pub(crate) enum WriterSlot {
    Empty,
    Taken {
        log: Log,
        writer: Box<Writer<Live>>,
        end: Arc<LastSync>,
        /// Identity of the lock file that the writer holds; `None` if the log was replaced before the lock was taken.
        lock: Option<(u64, u64)>,
    },
    Dead(String),
}

/// Result of the last sync of a writer that has left its slot. After an error, buffered events are possibly not durable.
pub(crate) type LastSync = OnceLock<Result<(), Error>>;

impl WriterSlot {
    /// Takes the writer out of the slot after its views are written. If a sync of the writer failed, the slot becomes dead.
    fn leave(&mut self) -> Option<Box<Writer<Live>>> {
        let (next, writer) = match std::mem::replace(self, WriterSlot::Empty) {
            WriterSlot::Taken { writer, end, .. } => {
                // Only this function sets the result of the last sync.
                let _ = end.set(writer.sync());
                let dead = writer.unsynced().map(WriterSlot::Dead);
                (dead.unwrap_or(WriterSlot::Empty), Some(writer))
            }
            other => (other, None),
        };
        *self = next;
        // Skips this for a failed writer, because the writer's state has events that are not in the log.
        if let Some(writer) = writer.as_ref().filter(|writer| !writer.is_poisoned()) {
            writer.with_state(Live::finish_views);
        }
        writer
    }
}

/// Keeps the writer of a team closed until the pause is dropped.
#[derive(Debug)]
pub struct Pause(Arc<OpenTeam>);

impl Pause {
    /// Runs `work`, which takes the lock of the whole log. Fails if a sync failed before. If a sync fails in `work`, the slot
    /// becomes dead.
    pub(crate) fn guard<A>(
        &self,
        options: &RootOptions,
        team: &str,
        work: impl FnOnce() -> Result<A>,
    ) -> Result<A> {
        if let WriterSlot::Dead(why) = &*self.0.read() {
            return Err(may_not_write(options, team, why));
        }
        let done = work();
        if let Some(why) = done.as_ref().err().and_then(unsynced) {
            self.0.end(why);
        }
        done
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        *locked(&self.0.pauses) -= 1;
        self.0.resumed.notify_all();
    }
}

impl OpenTeams {
    /// Returns the open team of that name. The slot of a new open team is empty.
    pub fn team(&self, name: &str) -> Arc<OpenTeam> {
        let mut teams = locked(&self.teams);
        let open_team = teams.entry(name.to_owned()).or_insert_with(OpenTeam::new);
        Arc::clone(open_team)
    }

    /// Returns the log of a team with an open writer. Only checks that the lock file is still in its place, because no other log can
    /// replace the opened one while the writer holds that lock.
    pub fn log(&self, name: &str) -> Option<(Log, Arc<OpenTeam>)> {
        let open_team = locked(&self.teams).get(name).cloned()?;
        let log = open_team.log_in_place()?;
        Some((log, open_team))
    }

    /// Closes every writer: syncs and unlocks each log.
    pub fn close(&self) -> Result<()> {
        let teams: Vec<_> = locked(&self.teams).values().cloned().collect();
        let share = teams.len().div_ceil(CLOSED_AT_ONCE).max(1);
        let close = |teams: &[Arc<OpenTeam>]| {
            let each = teams.iter().map(|open_team| open_team.close());
            each.fold(Ok(()), Result::and)
        };
        // Closes in parallel, because closing mostly waits for the disk, and the disk syncs many files as fast as one file.
        std::thread::scope(|scope| {
            let shares = teams.chunks(share);
            let threads: Vec<_> = shares
                .map(|teams| {
                    let closing = move || close(teams);
                    let started = std::thread::Builder::new().spawn_scoped(scope, closing);
                    started.map_err(|_| teams)
                })
                .collect();
            let ended = threads.into_iter().map(|started| match started {
                Ok(thread) => thread.join().unwrap_or_else(|_| {
                    Err(Error::Poisoned("closing a team panicked".into()).into())
                }),
                // If no thread can be started, closes these teams on this thread.
                Err(teams) => close(teams),
            });
            ended.fold(Ok(()), Result::and)
        })
    }
}

impl std::fmt::Debug for OpenTeam {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OpenTeam")
    }
}

impl OpenTeam {
    fn new() -> Arc<OpenTeam> {
        Arc::new_cyclic(|open_team: &Weak<OpenTeam>| OpenTeam {
            slot: RwLock::new(WriterSlot::Empty),
            pauses: Mutex::default(),
            resumed: Condvar::new(),
            // If this thread cannot be started, the state is still right, but the team opens more slowly.
            maintain: woken("merge", open_team, OpenTeam::maintain, Duration::ZERO)
                .unwrap_or_else(|| bounded(0).0),
            // If this thread cannot be started, views are written before the answers.
            views: woken("views", open_team, OpenTeam::write_views, VIEWS_PAUSE),
            before: Mutex::default(),
        })
    }

    /// Lets `record` write through the open writer; opens the writer if needed.
    pub fn commit<R>(
        &self,
        team: &Team,
        record: impl FnOnce(&Writer<Live>) -> Result<Commit<R>, CommitError<Failure>>,
    ) -> Result<Commit<R>> {
        let slot = self.usable(team)?;
        let WriterSlot::Taken { writer, end, .. } = &*slot else {
            // Unreachable: a slot that was just filled has a writer.
            return Err(Error::Poisoned("the writer left its slot".into()).into());
        };
        let (failure, failed) = match record(writer) {
            Ok(committed) => {
                match &team.batch {
                    Some(batch) => batch.waits_for(end),
                    None => self.follow(writer),
                }
                return Ok(committed);
            }
            Err(CommitError::Refused(failure)) => (failure, false),
            Err(CommitError::Failed(error) | CommitError::Conflict(error)) => {
                (input_fault(error), true)
            }
        };
        if failure.is_derived() {
            writer.with_reader(|live, _| live.repair())?;
        }
        if failed && writer.is_poisoned() {
            drop(slot);
            self.vacate();
        }
        Err(failure)
    }

    /// Returns the slot with a writer that can record. A writer that failed stays in the slot until the thread that saw the failure
    /// empties the slot; this function does not wait for that thread.
    fn usable(&self, team: &Team) -> Result<RwLockReadGuard<'_, WriterSlot>> {
        loop {
            let slot = match &team.batch {
                Some(batch) => batch.slot(self, team)?,
                None => self.filled(team)?,
            };
            match &*slot {
                WriterSlot::Taken { writer, .. } if writer.is_poisoned() => drop(slot),
                _ => return Ok(slot),
            }
            self.vacate();
        }
    }

    /// Wakes the threads that have work after an event was recorded.
    pub(super) fn follow(&self, writer: &Writer<Live>) {
        if writer.try_state(|live| live.needs_maintenance()) == Some(true) {
            // A full channel means that the thread will wake anyway.
            let _ = self.maintain.try_send(());
        }
        if let Some(views) = &self.views {
            let _ = views.try_send(());
        }
    }

    /// Answers from the open writer's state. Returns `None` if that state cannot be used; the caller must then read the log.
    pub fn query(&self, team: &Team, answer: Question<'_>) -> Option<Result<()>> {
        let slot = self.filled(team).ok()?;
        let WriterSlot::Taken { writer, .. } = &*slot else {
            return None;
        };
        writer.with_reader(|live, reader| {
            // The state can contain events of a failed group. Such events are not durable.
            if live.seq() != reader.head().last_seq {
                return None;
            }
            let answered = answer(live, reader);
            if !answered.as_ref().is_err_and(Failure::is_derived) {
                return Some(answered);
            }
            match live.repair() {
                Ok(()) => Some(answer(live, reader)),
                Err(error) => Some(Err(error.into())),
            }
        })
    }

    /// Opens the team if it is not open. If the log was rolled back under an open writer, closes the writer and opens the team again.
    /// Opening the team then reports the rollback.
    pub fn open(&self, team: &Team) -> Result<()> {
        let ended = match &*self.filled(team)? {
            WriterSlot::Taken { writer, .. } => writer.check_end(),
            WriterSlot::Empty | WriterSlot::Dead(_) => Ok(()),
        };
        if let Err(Error::RolledBack { .. }) = ended {
            self.vacate();
            self.filled(team).map(drop)?;
        }
        Ok(())
    }

    /// Returns true if a sync failed, so that this process no longer writes to the team.
    pub fn is_dead(&self) -> bool {
        matches!(*self.read(), WriterSlot::Dead(_))
    }

    /// Returns the counts of all writers so far.
    pub fn counts(&self) -> WriterCounts {
        let slot = self.read();
        let mut counts = *locked(&self.before);
        if let WriterSlot::Taken { writer, .. } = &*slot {
            counts.add(writer.counts());
        }
        counts
    }

    /// Releases the log's lock until the pause is dropped.
    pub fn pause(self: &Arc<OpenTeam>) -> Pause {
        *locked(&self.pauses) += 1;
        let pause = Pause(Arc::clone(self));
        self.vacate();
        pause
    }

    fn close(&self) -> Result<()> {
        // The slot stays locked until the log is closed.
        let writer = self.write().leave();
        writer.map_or(Ok(()), |writer| Ok(writer.close().map(drop)?))
    }

    /// Makes the slot dead after a sync outside the writer failed.
    fn end(&self, why: String) {
        let mut slot = self.write();
        drop(slot.leave());
        if let WriterSlot::Empty = *slot {
            *slot = WriterSlot::Dead(why);
        }
    }

    /// Empties the slot. If a sync failed, makes the slot dead.
    pub(super) fn vacate(&self) {
        let mut slot = self.write();
        if let Some(writer) = slot.leave() {
            locked(&self.before).add(writer.counts());
            // The result is ignored: the writer has no buffered data, and a failed writer has reported its error.
            let _ = writer.release();
        }
    }

    /// Returns the slot with an open writer of the team's log.
    pub fn filled(&self, team: &Team) -> Result<RwLockReadGuard<'_, WriterSlot>> {
        let deadline = Instant::now() + team.options.lock_deadline;
        loop {
            self.wait_until_resumed(team, deadline)?;
            let slot = self.read();
            match &*slot {
                WriterSlot::Dead(why) => {
                    return Err(may_not_write(&team.options, team.name(), why));
                }
                WriterSlot::Taken { log, .. } if log.identity().log == team.log.identity().log => {
                    return Ok(slot);
                }
                WriterSlot::Taken { .. } | WriterSlot::Empty => drop(slot),
            }
            self.take(team)?;
        }
    }

    /// Opens the log for writing. Does nothing if another thread has opened it meanwhile, or if a command that needs the whole log is
    /// running.
    fn take(&self, team: &Team) -> Result<()> {
        let asked = Instant::now();
        let mut slot = self.write();
        let stays = match &*slot {
            WriterSlot::Empty => false,
            WriterSlot::Taken { log, .. } => log.identity().log == team.log.identity().log,
            WriterSlot::Dead(_) => true,
        };
        if stays || *locked(&self.pauses) > 0 {
            return Ok(());
        }
        // While this thread waited for the slot, another thread waited for the log's lock without success. This thread does not
        // wait for the lock again.
        if asked.elapsed() >= team.options.lock_deadline.max(QUEUED) {
            return Err(not_in_time(team, "another command of this process"));
        }
        // Releases the lock of the earlier log first.
        drop(slot.leave());
        if let WriterSlot::Dead(_) = &*slot {
            return Ok(());
        }
        let opened = team.exclusive_alone();
        if let Some(why) = opened.as_ref().err().and_then(unsynced) {
            *slot = WriterSlot::Dead(why);
        }
        let (exclusive, mut live) = opened?;
        if self.views.is_some() {
            live.write_views_later();
        }
        *slot = WriterSlot::Taken {
            log: team.log.clone(),
            lock: (exclusive.identity() == team.log.identity()).then(|| exclusive.lock_identity()),
            writer: Box::new(exclusive.into_writer(live)),
            end: Arc::default(),
        };
        Ok(())
    }

    fn wait_until_resumed(&self, team: &Team, deadline: Instant) -> Result<()> {
        let mut pauses = locked(&self.pauses);
        while *pauses > 0 {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let holder = "this daemon, for a command on the whole log";
                return Err(not_in_time(team, holder));
            }
            let waited = self.resumed.wait_timeout(pauses, left);
            pauses = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(())
    }

    /// Flushes new events into a run and merges runs. Commands can go on during the merge.
    fn maintain(&self) -> Result<()> {
        let slot = self.read();
        let WriterSlot::Taken { writer, .. } = &*slot else {
            return Ok(());
        };
        let store = writer.with_reader(|live, reader| {
            if live.views_error().is_some() {
                live.compare_views(reader)?;
            }
            live.flush()?;
            Ok::<_, Failure>(live.store())
        })?;
        if let Some(merged) = store.merge(u64::MAX)? {
            writer.with_state(|live| live.adopt(merged));
        }
        Ok(())
    }

    /// Writes the due view files. Blocks the state only while the content of the files is collected.
    fn write_views(&self) -> Result<()> {
        let slot = self.read();
        let WriterSlot::Taken { writer, .. } = &*slot else {
            return Ok(());
        };
        // Collects durable events only, because view files must not show any other event.
        if let Some(batch) = writer.with_reader(|live, _| live.collect_views()) {
            let written = batch.write();
            writer.with_state(|live| live.views_written(written));
        }
        if writer.with_state(|live| live.views_error().is_some()) {
            let _ = self.maintain.try_send(());
        }
        let sync = writer.with_state(|live| live.views_sync_due());
        // Releases the slot first, so that other threads do not wait for the disk.
        drop(slot);
        let Some(sync) = sync else {
            return Ok(());
        };
        let outcome = sync.run();
        if let WriterSlot::Taken { writer, .. } = &*self.read() {
            writer.with_state(|live| live.views_synced(&sync, &outcome));
        }
        Ok(outcome?)
    }

    /// Wakes the thread that syncs the file system if view files need a sync.
    pub fn sync_views(&self) {
        let WriterSlot::Taken { writer, .. } = &*self.read() else {
            return;
        };
        let due = writer.try_state(|live| live.views_sync_due().is_some());
        if let Some(views) = self.views.as_ref().filter(|_| due == Some(true)) {
            let _ = views.try_send(());
        }
    }

    pub(super) fn read(&self) -> RwLockReadGuard<'_, WriterSlot> {
        self.slot.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, WriterSlot> {
        self.slot.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts a thread that runs `work` each time it is woken, and then pauses. Returns `None` if no thread can be started.
fn woken(
    name: &str,
    open_team: &Weak<OpenTeam>,
    work: fn(&OpenTeam) -> Result<()>,
    pause: Duration,
) -> Option<Sender<()>> {
    let (wake, due) = bounded(1);
    let open_team = Weak::clone(open_team);
    let works = move || {
        while due.recv().is_ok() {
            let Some(open_team) = open_team.upgrade() else {
                return;
            };
            // A failure only costs time later. If a file is damaged, the next reader repairs it.
            let _ = work(&open_team);
            drop(open_team);
            std::thread::sleep(pause);
        }
    };
    let thread = std::thread::Builder::new().name(format!("teamlog-{name}"));
    let started = thread.spawn(works);
    started.is_ok().then_some(wake)
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the message of a failed sync; `None` for any other failure.
fn unsynced(failure: &Failure) -> Option<String> {
    let error = failure.engine().filter(|error| error.is_sync_error())?;
    Some(error.to_string())
}

fn not_in_time(team: &Team, holder: &str) -> Failure {
    let waited = team.options.lock_deadline.as_millis();
    Error::Locked {
        path: team.log.dir().join(LOCK_FILE),
        holder: holder.into(),
        waited_ms: u64::try_from(waited).unwrap_or(u64::MAX),
    }
    .into()
}

/// Returns the failure of a team after a sync failed in this process. Only a new process can find out the state of the disk.
fn may_not_write(options: &RootOptions, team: &str, why: &str) -> Failure {
    let message = format!(
        "this process no longer writes to team {team}, because a sync failed and the disk may lack events: {why}"
    );
    let mut refusal = Refusal::new(Code::SyncFailed, message);
    refusal.hint.clone_from(&options.restart);
    refusal.into()
}

#[cfg(test)]
mod tests;
