//! A team: load, decide, append, fold.
//!
//! A mutation takes the log's lock, brings the state up to the head, decides on it, and answers once its events are
//! durable; the lock is never held while input is read. A query reads up to the head and takes no lock. Work that only
//! saves time later waits for [`Team::finish`].

use crate::handle::batch::Batch;
use crate::handle::ignored;
use crate::handle::past::Past;
use crate::handle::past_folds::{PastFold, PastFolds};
use crate::handle::prelude::*;
use crate::handle::resident::{Pause, Resident};
use crate::handle::rollback;
use crate::handle::root::RootOptions;
use crate::projections::views::ViewsSource;
use teamlog_engine::storage::Files;
use teamlog_engine::{Commit, CommitError, Durability, LockedLog, Writer, WriterCounts};

/// A handle on one team.
pub struct Team {
    pub(crate) log: Log,
    pub(crate) options: RootOptions,
    /// The directory tree that its root is, where it is one.
    pub(crate) files: Option<Arc<Files>>,
    /// The state as this handle last saw it; good as long as the head names its last event.
    pub(crate) live: Option<Live>,
    /// Where the writer is that all handles of this process share, if it stays.
    pub(super) resident: Option<Arc<Resident>>,
    /// Set for a handle that had the whole log for itself: the writer stays away until it is gone.
    pub(super) pause: Option<Pause>,
    /// Set for a handle that stands at a point of the past.
    pub(super) past: Option<Past>,
    /// Set for a handle whose answers wait for the sync of a batch.
    pub(super) batch: Option<Batch>,
    /// On whose behalf, and under which key, this handle acts.
    pub(crate) control: Control,
    /// Whether its last answer was the repetition of an earlier one.
    pub(crate) repeated: bool,
}

impl std::fmt::Debug for Team {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Team").field("log", &self.log).finish()
    }
}

impl Team {
    /// A handle, on the writer that stays where there is one.
    pub(crate) fn new(log: Log, options: RootOptions, resident: Option<Arc<Resident>>) -> Team {
        Team {
            log,
            options,
            files: None,
            live: None,
            resident,
            pause: None,
            past: None,
            batch: None,
            control: Control::default(),
            repeated: false,
        }
    }
    /// Another handle on the same team, which takes the state along that this one has loaded.
    pub(crate) fn sibling(&mut self) -> Team {
        Team {
            files: self.files.clone(),
            live: self.live.take(),
            ..Team::new(
                self.log.clone(),
                self.options.clone(),
                self.resident.clone(),
            )
        }
    }
    /// When what this handle records is to be durable.
    pub(crate) fn durability(&self) -> Durability {
        match self.batch {
            Some(_) => Durability::Buffered,
            None => Durability::Synced,
        }
    }
    /// The writer that stays, unless this handle has the log for itself or stands in the past.
    fn resident(&self) -> Option<Arc<Resident>> {
        let alone = self.pause.is_some() || self.past.is_some();
        self.resident.clone().filter(|_| !alone)
    }
    /// Whether the team can be written now. Where its writer stays, opens it; else nothing is looked at.
    ///
    /// # Errors
    /// What a command that records would fail with: the log is damaged, or locked by others, or a sync failed before.
    pub fn writable(&self) -> Result<()> {
        let resident = self.resident();
        resident.map_or(Ok(()), |resident| resident.open(self))
    }
    /// Whether a writer of this process stays between commands, and keeps the views.
    pub(crate) fn stays_open(&self) -> bool {
        self.resident().is_some()
    }
    /// What the writer that stays has written; nothing where it does not.
    pub fn counts(&self) -> WriterCounts {
        let counts = self.resident().map(|resident| resident.counts());
        counts.unwrap_or_default()
    }
    /// The same team, at a point of its past for good.
    pub(crate) fn standing_at(self, past: Past) -> Team {
        Team {
            live: None,
            past: Some(past),
            ..self
        }
    }
    pub(crate) fn past(&self) -> Option<&Past> {
        self.past.as_ref()
    }
    /// The team's name.
    pub fn name(&self) -> &str {
        &self.log.identity().name
    }
    /// Its log.
    pub fn log(&self) -> &Log {
        &self.log
    }
    /// Refuses to take a team's format for another.
    pub(crate) fn check_format(&self, asked: Option<Format>) -> Result<(), Refusal> {
        let format = self.log.identity().format;
        let Some(asked) = asked.filter(|asked| *asked != format) else {
            return Ok(());
        };
        let (format, asked) = (format.name(), asked.name());
        let message = format!("format must be that of the team, {format}, but is {asked}");
        Err(Refusal::new(Code::FormatMismatch, message).field("format"))
    }

    /// Work that may follow the answer: flush and merge derived runs, sync view files that were not for long. Call it once
    /// the answer is printed; a failure here costs time later and loses nothing.
    pub fn finish(&mut self) -> Result<()> {
        if let Some(resident) = self.resident() {
            resident.sync_views();
        }
        let Some(live) = self.live.as_mut() else {
            return Ok(());
        };
        live.flush_if_due()?;
        Ok(live.sync_views_if_due()?)
    }

    /// Merges runs of the derived store, however large they are: for a caller that has the time.
    pub(crate) fn merge_runs(&mut self) -> Result<()> {
        let live = self.live.as_mut();
        live.map_or(Ok(()), |live| Ok(live.merge_runs(u64::MAX)?))
    }

    /// Lets `record` write under the lock, on the state up to the head, and keeps that state.
    pub(crate) fn commit<R>(
        &mut self,
        record: impl FnOnce(&Writer<Live>) -> Result<Commit<R>, CommitError<Failure>>,
    ) -> Result<Commit<R>> {
        self.changeable()?;
        if let Some(resident) = self.resident() {
            return resident.commit(self, record);
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
                // Only the state that met the damage knows where it is.
                writer.with_state(Live::repair)?;
            }
            return Err(failure);
        }
        self.keep(writer.release()?);
        outcome
    }

    /// Refuses to change what is past.
    pub(crate) fn changeable(&self) -> Result<()> {
        self.past()
            .map_or(Ok(()), |past| Err(past.unchangeable().into()))
    }

    /// The lock; the log is recovered.
    pub(crate) fn lock(&mut self) -> Result<LockedLog> {
        self.alone(Team::lock_alone)
    }

    /// Keeps the writer that stays away while this handle lives, and does what takes the log's lock by itself.
    pub(crate) fn alone<A>(&mut self, work: impl FnOnce(&Team) -> Result<A>) -> Result<A> {
        self.changeable()?;
        if let Some(resident) = self.resident() {
            self.pause = Some(resident.pause());
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
        // A failure to write the ignore files must not prevent recording.
        let _ = ignored::keep_current(self.log.storage().as_ref(), self.log.dir());
        Ok(exclusive)
    }

    /// The lock, and under it a state with views, loaded anew: for the writer that stays.
    pub(crate) fn exclusive_alone(&self) -> Result<(LockedLog, Live)> {
        let exclusive = self.lock_alone()?;
        let reader = exclusive.reader();
        let mut live = Live::load(&self.log, &reader)?;
        live.hold()?;
        live.compare_views(&reader)?;
        Ok((exclusive, live))
    }

    /// A reader up to the head of this moment, or to where this handle stands; opening it may recover the log.
    pub(crate) fn reader(&self) -> Result<Reader> {
        if let Some(past) = &self.past {
            return Ok(past.reader.clone());
        }
        let reader = match self.resident() {
            // Recovery writes, and this process may no more.
            Some(resident) if resident.is_dead() => self.log.peek()?,
            _ => self.log.reader()?,
        };
        let reader = rollback::checked(&self.log, reader)?;
        if let (Some(rollback), true) = (reader.rollback(), self.stays_open()) {
            // A process that stays open shows its callers no notes beside the answer, so it refuses.
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

    /// The lock, and under it the state up to the head, with views that are kept current.
    pub(crate) fn exclusive(&mut self) -> Result<(LockedLog, Live)> {
        let exclusive = self.lock()?;
        let reader = exclusive.reader();
        let mut live = self.state_at(&reader)?;
        live.keep_views(&reader)?;
        Ok((exclusive, live))
    }

    /// Keeps a state for the next command of this handle, and notes what it says of the views.
    pub(crate) fn keep(&mut self, live: Live) {
        if let Some(error) = live.views_error() {
            let notes = &self.options.notes;
            notes.say(format!(
                "recorded, but view files fell behind until the next command: {error}"
            ));
        }
        self.live = Some(live);
    }

    /// Answers from the state up to the head of this moment. A derived file that proves damaged is rebuilt, once.
    /// Where the writer stays it waits for the answer: what takes long is for `survey`.
    pub fn query<A>(&mut self, answer: impl FnMut(&Live, &Reader) -> Result<A>) -> Result<A> {
        answered(answer, |question| self.queried(question))
    }

    // The way to an answer is the same for every question, and built once.
    fn queried(&mut self, answer: Question<'_>) -> Result<()> {
        let resident = self.resident();
        let answered = resident.and_then(|resident| resident.query(self, &mut *answer));
        answered.unwrap_or_else(|| self.surveyed(answer))
    }

    /// As [`Team::query`], from the state alone. In a batch what is not durable yet counts, for whose sync the answer waits.
    pub(crate) fn peek<A>(&mut self, mut answer: impl FnMut(&Live) -> Result<A>) -> Result<A> {
        let resident = self.resident().filter(|_| self.batch.is_some());
        let answered = resident.and_then(|resident| resident.peek(&mut answer));
        answered.unwrap_or_else(|| self.query(|live, _| answer(live)))
    }

    /// As [`Team::query`], from a state of its own: an answer that takes long holds up nobody.
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
            // The repaired state is that of now.
            answered = answer(&live, &self.reader()?);
        }
        self.live = Some(live);
        answered
    }

    /// The right to fold the past, where that is limited, for as long as the answer lives.
    pub(crate) fn past_fold(&self) -> Result<Option<PastFold>, Refusal> {
        let folds = self.options.past_folds.as_ref();
        folds.map(PastFolds::take).transpose()
    }

    fn state_at(&mut self, reader: &Reader) -> Result<Live> {
        match self.live.take() {
            Some(live) if live.is_at_head(reader) => Ok(live),
            // Fold the log and keep the stored state: after a rollback it still knows the lost events.
            _ if self.past.is_some() || reader.rollback().is_some() => {
                let _fold = self.past_fold()?;
                Ok(Live::at(&self.log, reader, reader.head().last_seq)?)
            }
            _ => Ok(Live::load(&self.log, reader)?),
        }
    }

    /// Brings the views up to the head, under the lock; all of them if nothing is known of any.
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

    /// Runs [`Team::mend_views`] if the files are behind the log or cannot be trusted. A writer that stays open does so itself.
    pub(crate) fn mend_views_if_due(&mut self) -> Result<()> {
        if self.stays_open() {
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

/// What is asked of a state, and of the log behind it.
pub(super) type Question<'a> = &'a mut dyn FnMut(&Live, &Reader) -> Result<()>;

/// What is answered to a question, however that is asked.
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

/// Refuses to change a team that was closed.
pub(crate) fn open(live: &Live) -> Result<()> {
    let Some(at) = live.team()?.and_then(|team| team.closed_at) else {
        return Ok(());
    };
    let message = format!("team must be open, but was closed at {at}");
    let refusal = Refusal::new(Code::TeamClosed, message).field("team");
    let hint = "its events can still be read";
    Err(refusal.hint(hint).into())
}

/// The engine checks events once more; where it objects, the input is at fault and nothing was written.
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
