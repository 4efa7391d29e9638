//! A team: loads the state, decides, appends events, folds them.
//!
//! A mutation takes the log's lock, brings the state up to the head, and decides on that state. A mutation answers after its events
//! are durable, and reads no input while it holds the lock. A query reads up to the head and takes no lock. [`Team::finish`] does
//! the work that only saves time later.

use crate::handle::batch::Batch;
use crate::handle::ignored;
use crate::handle::open_team::{OpenTeam, Pause};
use crate::handle::past::Past;
use crate::handle::past_folds::{PastFold, PastFolds};
use crate::handle::prelude::*;
use crate::handle::rollback;
use crate::handle::root::RootOptions;
use crate::projections::views::ViewsSource;
use teamlog_engine::storage::Files;
use teamlog_engine::{Commit, CommitError, Durability, LockedLog, Writer, WriterCounts};

/// A handle on one team.
pub struct Team {
    pub(crate) log: Log,
    pub(crate) options: RootOptions,
    /// Directory tree of the root, if the root is a directory tree.
    pub(crate) files: Option<Arc<Files>>,
    /// State that this handle last loaded. The state is current if its last event is the last event of the log.
    pub(crate) live: Option<Live>,
    /// The open team whose writer all handles of a long-running process share.
    pub(super) open_team: Option<Arc<OpenTeam>>,
    /// Keeps the shared writer closed until this handle is dropped, because this handle took the whole log.
    pub(super) pause: Option<Pause>,
    /// Point in the past at which this handle is; `None` if the handle is at the present.
    pub(super) past: Option<Past>,
    /// Batch of this handle's commands. Answers wait for the sync of the batch.
    pub(super) batch: Option<Batch>,
    /// Caller, key and other terms for the calls of this handle.
    pub(crate) control: Control,
    /// True if the last answer of this handle only repeated a stored answer.
    pub(crate) repeated: bool,
}

impl std::fmt::Debug for Team {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Team").field("log", &self.log).finish()
    }
}

impl Team {
    /// Returns a handle. If `open_team` is given, the handle uses the shared writer.
    pub(crate) fn new(log: Log, options: RootOptions, open_team: Option<Arc<OpenTeam>>) -> Team {
        Team {
            log,
            options,
            files: None,
            live: None,
            open_team,
            pause: None,
            past: None,
            batch: None,
            control: Control::default(),
            repeated: false,
        }
    }
    /// Returns another handle on the same team, and moves the loaded state to the new handle.
    pub(crate) fn sibling(&mut self) -> Team {
        Team {
            files: self.files.clone(),
            live: self.live.take(),
            ..Team::new(
                self.log.clone(),
                self.options.clone(),
                self.open_team.clone(),
            )
        }
    }
    /// Returns the durability of this handle's events: synced, or in a batch only buffered.
    pub(crate) fn durability(&self) -> Durability {
        match self.batch {
            Some(_) => Durability::Buffered,
            None => Durability::Synced,
        }
    }
    /// Returns the open team; `None` if this handle took the whole log or is at a point in the past.
    fn open_team(&self) -> Option<Arc<OpenTeam>> {
        let alone = self.pause.is_some() || self.past.is_some();
        self.open_team.clone().filter(|_| !alone)
    }
    /// Opens the shared writer, to find out if events can be recorded in the team. Does nothing
    /// without a shared writer.
    ///
    /// # Errors
    /// Fails like a recording command: the log is damaged, another process holds the lock, or an earlier sync failed.
    pub fn writable(&self) -> Result<()> {
        let open_team = self.open_team();
        open_team.map_or(Ok(()), |open_team| open_team.open(self))
    }
    /// Returns true if a writer of this process stays open between commands and keeps the views.
    pub(crate) fn kept_open(&self) -> bool {
        self.open_team().is_some()
    }
    /// Returns the counts of the shared writer; zeros if there is none.
    pub fn counts(&self) -> WriterCounts {
        let counts = self.open_team().map(|open_team| open_team.counts());
        counts.unwrap_or_default()
    }
    /// Returns the team at a point of its past.
    pub(crate) fn at_past(self, past: Past) -> Team {
        Team {
            live: None,
            past: Some(past),
            ..self
        }
    }
    pub(crate) fn past(&self) -> Option<&Past> {
        self.past.as_ref()
    }
    /// Returns the team's name.
    pub fn name(&self) -> &str {
        &self.log.identity().name
    }
    /// Returns the team's log.
    pub fn log(&self) -> &Log {
        &self.log
    }
    /// Refuses a format other than the team's format.
    pub(crate) fn check_format(&self, asked: Option<Format>) -> Result<(), Refusal> {
        let format = self.log.identity().format;
        let Some(asked) = asked.filter(|asked| *asked != format) else {
            return Ok(());
        };
        let (format, asked) = (format.name(), asked.name());
        let message = format!("the team has format {format}, not {asked}");
        Err(Refusal::new(Code::FormatMismatch, message).field("format"))
    }

    /// Does work that can wait until the answer is out: flushes and merges derived runs, and syncs view files that were not
    /// synced lately. A failure costs time later, but loses nothing.
    pub fn finish(&mut self) -> Result<()> {
        if let Some(open_team) = self.open_team() {
            open_team.sync_views();
        }
        let Some(live) = self.live.as_mut() else {
            return Ok(());
        };
        live.flush_if_due()?;
        Ok(live.sync_views_if_due()?)
    }

    /// Merges all runs of the derived store regardless of their size. For a caller that has time.
    pub(crate) fn merge_runs(&mut self) -> Result<()> {
        let live = self.live.as_mut();
        live.map_or(Ok(()), |live| Ok(live.merge_runs(u64::MAX)?))
    }

    /// Runs `record` under the lock, with the state up to the head. Stores that state in this
    /// handle.
    pub(crate) fn commit<R>(
        &mut self,
        record: impl FnOnce(&Writer<Live>) -> Result<Commit<R>, CommitError<Failure>>,
    ) -> Result<Commit<R>> {
        self.changeable()?;
        if let Some(open_team) = self.open_team() {
            return open_team.commit(self, record);
        }
        let (exclusive, live) = self.exclusive()?;
        let writer = exclusive.into_writer(live);
        let outcome = match record(&writer) {
            Ok(committed) => Ok(committed),
            Err(CommitError::Refused(failure)) => Err(failure),
            Err(CommitError::Failed(error) | CommitError::Conflict(error)) => {
                Err(input_fault(error))
            }
        };
        if let Err(failure @ Failure::Failed(_)) = outcome {
            if failure.is_derived() {
                // Repairs through the writer's own state, because only that state knows which file is damaged.
                writer.with_state(Live::repair)?;
            }
            return Err(failure);
        }
        self.keep(writer.release()?);
        outcome
    }

    /// Refuses a mutation if this handle is at a point in the past.
    pub(crate) fn changeable(&self) -> Result<()> {
        self.past()
            .map_or(Ok(()), |past| Err(past.unchangeable().into()))
    }

    /// Takes the lock, which also recovers the log.
    pub(crate) fn lock(&mut self) -> Result<LockedLog> {
        self.alone(Team::lock_alone)
    }

    /// Runs work that takes the log's lock directly. Keeps the shared writer closed until this handle is dropped.
    pub(crate) fn alone<A>(&mut self, work: impl FnOnce(&Team) -> Result<A>) -> Result<A> {
        self.changeable()?;
        if let Some(open_team) = self.open_team() {
            self.pause = Some(open_team.pause());
        }
        match &self.pause {
            Some(pause) => pause.guard(&self.options, self.name(), || work(self)),
            None => work(self),
        }
    }

    fn lock_alone(&self) -> Result<LockedLog> {
        let exclusive = self.log.lock()?;
        if let Some(rollback) = rollback::shown_by_files(&self.log, &exclusive.reader())? {
            return Err(self.log.rolled_back(rollback).into());
        }
        self.say(exclusive.recovered());
        // If the ignore files cannot be written, the events are still recorded.
        let _ = ignored::keep_current(self.log.storage().as_ref(), self.log.dir());
        Ok(exclusive)
    }

    /// Takes the lock and loads a state with views, for the shared writer.
    pub(crate) fn exclusive_alone(&self) -> Result<(LockedLog, Live)> {
        let exclusive = self.lock_alone()?;
        let reader = exclusive.reader();
        let mut live = Live::load(&self.log, &reader)?;
        live.hold()?;
        live.compare_views(&reader)?;
        Ok((exclusive, live))
    }

    /// Returns a reader up to the current head, or up to this handle's point in the past. Opening the reader may recover the log.
    pub(crate) fn reader(&self) -> Result<Reader> {
        if let Some(past) = &self.past {
            return Ok(past.reader.clone());
        }
        let reader = match self.open_team() {
            // Does not recover the log: recovery writes, and this process must no longer write.
            Some(open_team) if open_team.is_dead() => self.log.peek()?,
            _ => self.log.reader()?,
        };
        let reader = rollback::checked(&self.log, reader)?;
        if let (Some(rollback), true) = (reader.rollback(), self.kept_open()) {
            // A long-running process cannot show notes with its answer, so the process refuses the command instead of adding a
            // note.
            return Err(self.log.rolled_back(rollback.clone()).into());
        }
        self.say(reader.notes());
        Ok(reader)
    }

    fn say(&self, notes: &[String]) {
        for note in notes {
            self.options.notes.say(note);
        }
    }

    /// Takes the lock and brings the state up to the head. The views of that state are kept current.
    pub(crate) fn exclusive(&mut self) -> Result<(LockedLog, Live)> {
        let exclusive = self.lock()?;
        let reader = exclusive.reader();
        let mut live = self.state_at(&reader)?;
        live.keep_views(&reader)?;
        Ok((exclusive, live))
    }

    /// Stores a state for the next command of this handle. Adds errors of the state's views to the notes.
    pub(crate) fn keep(&mut self, live: Live) {
        if let Some(error) = live.views_error() {
            let notes = &self.options.notes;
            notes.say(format!(
                "recorded, but view files are out of date until the next command: {error}"
            ));
        }
        self.live = Some(live);
    }

    /// Answers from the state up to the current head. If a derived file is damaged, rebuilds it once. The shared writer waits
    /// during the answer; for long work use `survey`.
    pub fn query<A>(&mut self, answer: impl FnMut(&Live, &Reader) -> Result<A>) -> Result<A> {
        answered(answer, |question| self.queried(question))
    }

    // Runs the query. This function has no type parameter, so that the compiler generates its code only once.
    fn queried(&mut self, answer: Question<'_>) -> Result<()> {
        let open_team = self.open_team();
        let answered = open_team.and_then(|open_team| open_team.query(self, &mut *answer));
        answered.unwrap_or_else(|| self.surveyed(answer))
    }

    /// Like [`Team::query`], but answers from the state alone. In a batch, the state includes events that are not durable yet,
    /// because the answer waits for the sync of the batch.
    pub(crate) fn peek<A>(&mut self, mut answer: impl FnMut(&Live) -> Result<A>) -> Result<A> {
        let open_team = self.open_team().filter(|_| self.batch.is_some());
        let answered = open_team.and_then(|open_team| open_team.peek(&mut answer));
        answered.unwrap_or_else(|| self.query(|live, _| answer(live)))
    }

    /// Like [`Team::query`], but loads a state of its own, so that a long query does not block the shared writer.
    pub(crate) fn survey<A>(
        &mut self,
        answer: impl FnMut(&Live, &Reader) -> Result<A>,
    ) -> Result<A> {
        answered(answer, |question| self.surveyed(question))
    }

    fn surveyed(&mut self, answer: Question<'_>) -> Result<()> {
        let reader = self.reader()?;
        let mut live = self.state_at(&reader)?;
        let mut answered = answer(&live, &reader);
        if answered.as_ref().is_err_and(Failure::is_derived) {
            live.repair()?;
            // The repaired state is at the current head, so the reader must be at the current head
            // too.
            answered = answer(&live, &self.reader()?);
        }
        self.live = Some(live);
        answered
    }

    /// Takes a permit to fold a past state, if folds are limited. The caller holds the permit until the answer is complete.
    pub(crate) fn past_fold(&self) -> Result<Option<PastFold>, Refusal> {
        let folds = self.options.past_folds.as_ref();
        folds.map(PastFolds::take).transpose()
    }

    fn state_at(&mut self, reader: &Reader) -> Result<Live> {
        match self.live.take() {
            Some(live) if live.is_at_head(reader) => Ok(live),
            // Folds the log anew, and does not overwrite the stored state. After a rollback, the stored state still has data of the
            // lost events.
            _ if self.past.is_some() || reader.rollback().is_some() => {
                let _fold = self.past_fold()?;
                Ok(Live::at(&self.log, reader, reader.head().last_seq)?)
            }
            _ => Ok(Live::load(&self.log, reader)?),
        }
    }

    /// Brings the views up to the head under the lock. If the cursor of the views is missing, writes all views.
    pub(crate) fn mend_views(&mut self) -> Result<()> {
        self.mend_views_within(Duration::MAX)
    }

    /// Runs [`Team::mend_views`], but waits at most `left` for the lock.
    pub(crate) fn mend_views_within(&mut self, left: Duration) -> Result<()> {
        let options = self.log.options().clone();
        let mut bounded = options.clone();
        bounded.lock_deadline = options.lock_deadline.min(left);
        self.log = self.log.clone().with_options(bounded);
        let mended = self.mend_views_now();
        self.log = self.log.clone().with_options(options);
        mended
    }

    fn mend_views_now(&mut self) -> Result<()> {
        let exclusive = self.lock()?;
        let reader = exclusive.reader();
        let mut live = self.state_at(&reader)?;
        live.compare_views(&reader)?;
        drop(exclusive);
        self.keep(live);
        Ok(())
    }

    /// Runs [`Team::mend_views`] if the view files are older than the log or cannot be trusted. Does nothing for a shared writer,
    /// which keeps its views current.
    pub(crate) fn mend_views_if_due(&mut self) -> Result<()> {
        if self.kept_open() {
            return Ok(());
        }
        let (seq, kept) = self.query(|live, _| {
            let kept = live.team()?.is_some_and(|team| team.keeps_views());
            Ok((live.seq(), kept))
        })?;
        let current = ViewsSource::new(&self.log).current()?;
        match kept && current.is_none_or(|cursor| cursor < seq) {
            true => self.mend_views(),
            false => Ok(()),
        }
    }
}

/// A query as a closure over a state and its log.
pub(super) type Question<'a> = &'a mut dyn FnMut(&Live, &Reader) -> Result<()>;

/// Returns the answer that `ask` obtains through the closure. `ask` does not depend on the type of
/// the answer.
fn answered<A>(
    mut answer: impl FnMut(&Live, &Reader) -> Result<A>,
    ask: impl FnOnce(Question<'_>) -> Result<()>,
) -> Result<A> {
    let mut answered = None;
    ask(&mut |live, reader| {
        answered = Some(answer(live, reader)?);
        Ok(())
    })?;
    answered.ok_or_else(unasked)
}

fn unasked() -> Failure {
    Error::Poisoned("a question was not asked".into()).into()
}

/// Refuses to change a closed team.
pub(crate) fn open(live: &Live) -> Result<()> {
    let Some(at) = live.team()?.and_then(|team| team.closed_at) else {
        return Ok(());
    };
    let message = format!("the team was closed at {at}");
    let refusal = Refusal::new(Code::TeamClosed, message).field("team");
    let hint = "the events of a closed team can still be read";
    Err(refusal.hint(hint).into())
}

/// Turns the engine's error about an invalid event into a refusal of the input. The engine validates events before writing.
pub(crate) fn input_fault(error: Error) -> Failure {
    match error {
        Error::Invalid { ref field, .. } => {
            let refusal = Refusal::new(Code::InvalidInput, error.to_string());
            refusal.field(&**field).into()
        }
        Error::TooLarge { .. } => Refusal::new(Code::TooLarge, error.to_string()).into(),
        error => error.into(),
    }
}
