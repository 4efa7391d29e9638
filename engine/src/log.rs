//! A log: creating, opening and reading a log, and taking its lock to write.

mod read;
mod rollback;

use crate::head::HeadFile;
use crate::journal::{Journal, Journals, LogState, Replica, cursor};
use crate::layout::{CUT, LOCK_FILE, QUARANTINED};
use crate::lock::{self, LogLock};
use crate::options::LogOptions;
use crate::prelude::*;
use crate::reader::{Opening, Reader};
use crate::recovery::cut::Cut;
use crate::recovery::switch;
use crate::recovery::{self, Quarantined, Recovered, RecoveryContext};
use crate::witness::Witness;
use crate::writer::active::ActiveSegment;
use crate::writer::core::Core;
use crate::writer::group::Buffers;
use crate::writer::{State, Writer, WriterCounts};
use rollback::Unchecked;
pub use rollback::{AcceptedRollback, LOST_EVENTS_MAX, LostEvent, RolledBackLog};
use std::time::Instant;

/// Description of a log to create.
#[derive(Clone, Debug)]
pub struct NewLog {
    /// The log's name: an identifier, repeated in the header of each segment.
    pub name: String,
    /// Format of the events.
    pub format: Format,
    /// Origin of the log, for `log.json`.
    pub origin: String,
}

impl NewLog {
    /// Describes a log with this name, in the format `jsonl`.
    pub fn new(name: impl Into<String>) -> NewLog {
        NewLog {
            name: name.into(),
            format: Format::default(),
            origin: "init".to_owned(),
        }
    }

    /// Sets the format.
    #[must_use]
    pub fn with_format(self, format: Format) -> NewLog {
        NewLog { format, ..self }
    }

    fn identity(self, log: LogId, options: &LogOptions) -> Identity {
        Identity {
            log,
            name: self.name,
            format: self.format,
            version: self.format.version(),
            created_at: options.clock.now(),
            origin: self.origin,
            journal: None,
            refs: options.refs.clone(),
        }
    }
}

/// A log, not locked. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Log {
    storage: Arc<dyn Storage>,
    dir: PathBuf,
    identity: Identity,
    options: LogOptions,
}

impl Log {
    /// Creates an empty log in `dir`, durably. The directory may exist without `log.json`.
    ///
    /// # Errors
    /// `LogExists`, I/O.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::{path::Path, sync::Arc};
    /// # use teamlog_engine::storage::Memory;
    /// # use teamlog_engine::*;
    /// # let storage = Arc::new(Memory::new());
    /// let format = NewLog::new("audit").with_format(Format::Binary);
    /// let log = Log::create(storage.clone(), Path::new("audit"), format, LogOptions::default())?;
    /// assert_eq!(log.reader()?.head().last_seq, 0);
    ///
    /// let again = Log::create(storage, Path::new("audit"), NewLog::new("audit"), LogOptions::default());
    /// assert!(matches!(again, Err(Error::LogExists { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create(
        storage: Arc<dyn Storage>,
        dir: &Path,
        new: NewLog,
        options: LogOptions,
    ) -> Result<Log> {
        let id = LogId::new(options.ids.as_ref())?;
        Log::create_as(id, storage, dir, new, options)
    }

    /// Like `create`, with an id from the caller.
    pub(crate) fn create_as(
        id: LogId,
        storage: Arc<dyn Storage>,
        dir: &Path,
        new: NewLog,
        options: LogOptions,
    ) -> Result<Log> {
        let identity = new.identity(id, &options);
        Log::create_from(identity, storage, dir, options)
    }

    /// Creates an empty log whose groups a journal orders. Registers the log at the journal first, so that no other host takes
    /// the name.
    ///
    /// # Errors
    /// `Journal`: this program cannot open the journal, or the journal does not answer or has a log of that name; `LogExists`,
    /// I/O.
    pub fn create_shared(
        storage: Arc<dyn Storage>,
        dir: &Path,
        new: NewLog,
        journal: JournalIdentity,
        options: LogOptions,
    ) -> Result<Log> {
        let journals = options.journals.as_ref();
        let journals = journals.ok_or_else(|| unknown_journal(&journal))?;
        let identity = Identity {
            journal: Some(journal),
            ..new.identity(LogId::new(options.ids.as_ref())?, &options)
        };
        journals.enroll(&identity, LogState::Open)?;
        Log::create_from(identity, storage, dir, options)
    }

    /// Creates an empty log with an existing identity: a replica of the log in a journal.
    ///
    /// # Errors
    /// `LogExists`, I/O.
    pub fn create_from(
        identity: Identity,
        storage: Arc<dyn Storage>,
        dir: &Path,
        options: LogOptions,
    ) -> Result<Log> {
        Log::create_filled(identity, storage, dir, options, |_| Ok(Head::empty()))
    }

    /// Creates a log with an existing identity; `fill` writes its segments and returns its head.
    pub(crate) fn create_filled(
        identity: Identity,
        storage: Arc<dyn Storage>,
        dir: &Path,
        options: LogOptions,
        fill: impl FnOnce(&Path) -> Result<Head>,
    ) -> Result<Log> {
        identity.check_refs(dir, &options.refs)?;
        let path = dir.join(LOG_FILE);
        if storage.named().stat(&path)?.is_some() {
            return Err(Error::LogExists {
                path: dir.to_path_buf(),
            });
        }
        let events = dir.join(EVENTS_DIR);
        storage.named().create_dir_all(&events)?;
        let mut head = fill(&events)?;
        let lock = dir.join(LOCK_FILE);
        // The lock file may hold the witness of a removed log, which is not valid for the new log.
        storage
            .named()
            .open(&lock, OpenMode::Create)?
            .cut_behind(0)?;
        HeadFile::open(storage.as_ref(), dir, identity.log, OpenMode::Create)?
            .write(&mut head, true)?;
        assert_eq!(head.generation, 1, "a log must begin with its first head");
        // `log.json` is written last, because a directory with this file is a log.
        storage.named().replace(&path, &identity.encode())?;
        for above in dir.ancestors().skip(1) {
            storage.named().sync_dir(above)?;
        }
        Ok(Log {
            storage,
            dir: dir.to_path_buf(),
            identity,
            options,
        })
    }

    /// Opens the log in `dir`.
    ///
    /// # Errors
    /// `NoLog`, `UnsupportedFormat`, `OtherRefs` if the log declares other refs than the options name, `Corrupt`, I/O.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::{path::Path, sync::Arc};
    /// # use teamlog_engine::storage::Memory;
    /// # use teamlog_engine::*;
    /// # let storage = Arc::new(Memory::new());
    /// # Log::create(storage.clone(), Path::new("audit"), NewLog::new("audit"), LogOptions::default())?;
    /// let log = Log::open(storage.clone(), Path::new("audit"), LogOptions::default())?;
    /// assert_eq!(log.identity().format, Format::Jsonl);
    ///
    /// let missing = Log::open(storage, Path::new("other"), LogOptions::default());
    /// assert!(matches!(missing, Err(Error::NoLog { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(storage: Arc<dyn Storage>, dir: &Path, options: LogOptions) -> Result<Log> {
        let identity = Identity::load(storage.as_ref(), dir)?;
        identity.check_refs(dir, &options.refs)?;
        Ok(Log {
            storage,
            dir: dir.to_path_buf(),
            identity,
            options,
        })
    }

    /// Returns the content of `log.json`.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Returns the log's directory, relative to the storage's root.
    pub fn dir(&self) -> &PathBuf {
        &self.dir
    }

    /// Returns the storage of the log.
    pub fn storage(&self) -> &Arc<dyn Storage> {
        &self.storage
    }

    /// Returns the options with which the log was opened.
    pub fn options(&self) -> &LogOptions {
        &self.options
    }

    /// Returns the log with other options.
    #[must_use]
    pub fn with_options(self, options: LogOptions) -> Log {
        Log { options, ..self }
    }

    /// Returns true if the log's lock file still has this identity ([`LockedLog::lock_identity`]). Then no writer has replaced
    /// the log. Costs one `stat`.
    pub fn is_locked_by(&self, lock: (u64, u64)) -> bool {
        let there = self.storage.look(&self.dir.join(LOCK_FILE));
        matches!(there, Ok(Some(found)) if found.identity == lock)
    }

    /// Takes the lock, recovers from a crash, and prepares for writing. If the log has a journal, reads the journal's new
    /// groups.
    ///
    /// # Errors
    /// `Locked` at the deadline, `Corrupt`, I/O; `Journal` if this program cannot open the journal, or if the journal does not
    /// answer or does not continue this log.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::{path::Path, sync::Arc};
    /// # use teamlog_engine::storage::Memory;
    /// # use teamlog_engine::*;
    /// # let storage = Arc::new(Memory::new());
    /// let options = LogOptions { lock_deadline: std::time::Duration::ZERO, ..LogOptions::default() };
    /// let log = Log::create(storage, Path::new("audit"), NewLog::new("audit"), options)?;
    /// let locked = log.lock()?;
    /// assert!(locked.recovered().is_empty(), "the last writer did not crash");
    /// assert!(matches!(log.lock(), Err(Error::Locked { .. })), "one writer at a time");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lock(&self) -> Result<LockedLog> {
        let begun = Instant::now();
        let mut exclusive = self.lock_alone()?;
        let Some(identity) = exclusive.identity().journal.clone() else {
            return Ok(exclusive);
        };
        let journal = self.journals(&identity)?.open(&identity)?;
        exclusive.core.replica = Some(Replica::open(
            journal,
            &exclusive.reader(),
            self.options.fold_version,
        )?);
        exclusive.core.know_synced()?;
        exclusive.core.catch_up()?;
        exclusive.core.confirm_read(begun)?;
        if let Some(replica) = &mut exclusive.core.replica {
            // The new groups were just read, so the first append is decided without reading again. The journal compares the position of the
            // append.
            replica.leads = true;
        }
        Ok(exclusive)
    }

    /// Takes the lock without reading the journal. The caller must not record anything.
    pub(crate) fn lock_alone(&self) -> Result<LockedLog> {
        self.lock_for(self.options.lock_deadline)
    }

    /// Returns the implementation that opens the given journal.
    pub(crate) fn journals(&self, journal: &JournalIdentity) -> Result<Arc<dyn Journals>> {
        let journals = self.options.journals.clone();
        journals.ok_or_else(|| unknown_journal(journal))
    }

    /// Opens the journal, and fails if its system of servers differs from the system that this host knows.
    pub(crate) fn journal(&self, journal: &JournalIdentity) -> Result<Box<dyn Journal>> {
        let mut handle = self.journals(journal)?.open(journal)?;
        let term = cursor::known_term(self.storage.as_ref(), &self.dir, self.identity());
        handle.expect_term(term);
        Ok(handle)
    }

    fn lock_for(&self, deadline: Duration) -> Result<LockedLog> {
        let lock = lock::acquire(self.storage.as_ref(), &self.dir, deadline)?;
        self.locked(lock)
    }

    /// Reads the log's identity under the lock, recovers from a crash, and compares the log with its witness.
    pub(crate) fn locked(&self, lock: LogLock) -> Result<LockedLog> {
        let unchecked = self.unchecked(lock)?;
        match unchecked.rollback()? {
            Some(rollback) => Err(self.rolled_back(rollback)),
            None => unchecked.finish(),
        }
    }

    /// Like `locked`, without the comparison. Records no events.
    fn unchecked(&self, lock: LogLock) -> Result<Unchecked> {
        // The log may have been converted or replaced during the wait for the lock.
        let identity = Identity::load(self.storage.as_ref(), &self.dir)?;
        identity.check_refs(&self.dir, &self.options.refs)?;
        match self.recovered(&identity) {
            Err(foreign @ Error::ForeignFile { .. }) => {
                if !switch::finish(self.storage.as_ref(), &self.dir, &identity)? {
                    return Err(foreign);
                }
                let (head_file, mut recovered) = self.recovered(&identity)?;
                let note = "finished the replacement of the damaged log by the salvaged one";
                recovered.notes.insert(0, note.to_owned());
                self.exclusive(lock, identity, head_file, recovered)
            }
            recovered => {
                let (head_file, recovered) = recovered?;
                self.exclusive(lock, identity, head_file, recovered)
            }
        }
    }

    fn recovered(&self, identity: &Identity) -> Result<(HeadFile, Recovered)> {
        let head_file = HeadFile::open(
            self.storage.as_ref(),
            &self.dir,
            identity.log,
            OpenMode::Create,
        )?;
        let recovered = recovery::recover(&self.locked_log(identity, &head_file))?;
        Ok((head_file, recovered))
    }

    pub(crate) fn locked_log<'a>(
        &'a self,
        identity: &'a Identity,
        head_file: &'a HeadFile,
    ) -> RecoveryContext<'a> {
        RecoveryContext {
            storage: &self.storage,
            dir: &self.dir,
            identity,
            head_file,
            is_replica: identity.journal.is_some(),
        }
    }

    fn exclusive(
        &self,
        lock: LogLock,
        identity: Identity,
        head_file: HeadFile,
        recovered: Recovered,
    ) -> Result<Unchecked> {
        let options = self.options_for(identity.journal.as_ref());
        let exclusive = LockedLog {
            notes: recovered.notes,
            witness: lock.witness(),
            core: Core {
                storage: self.storage.clone(),
                dir: self.dir.clone(),
                identity,
                options,
                head: recovered.head,
                head_file,
                active: recovered.active.map(ActiveSegment::new).transpose()?,
                state: (),
                pending: Vec::new(),
                pending_bytes: 0,
                spare: Buffers::default(),
                in_flight: None,
                written: Vec::new(),
                collect_events: false,
                replica: None,
                ended: None,
                jobs: 0,
                counts: WriterCounts::default(),
                poisoned: None,
                lock,
            },
        };
        Ok(Unchecked {
            exclusive,
            unnamed: recovered.unnamed,
            cut: recovered.cut,
        })
    }

    fn options_for(&self, journal: Option<&JournalIdentity>) -> LogOptions {
        let own = self.options.clone();
        LogOptions {
            segment_bytes_max: journal.map_or(own.segment_bytes_max, |one| one.segment_bytes_max),
            ..own
        }
    }
}

/// Creates the error for a journal that this program cannot open.
fn unknown_journal(journal: &JournalIdentity) -> Error {
    let why = format!("{} {} is not known on this host", journal.kind, journal.id);
    Error::journal(JournalFault::Unconfigured, why)
}

/// A log under its exclusive lock, after recovery. Load state from its [`LockedLog::reader`], then convert it into a [`Writer`].
pub struct LockedLog {
    pub(crate) core: Core<()>,
    notes: Vec<String>,
    /// The witness before recovery.
    witness: Option<Witness>,
}

impl LockedLog {
    /// Returns the head after recovery.
    pub fn head(&self) -> &Head {
        &self.core.head
    }

    /// Returns device and inode of the lock file.
    pub fn lock_identity(&self) -> (u64, u64) {
        self.core.lock.identity()
    }

    /// Returns the actions of recovery as texts for people; no actions after a clean close.
    pub fn recovered(&self) -> &[String] {
        &self.notes
    }

    /// Returns the log's identity.
    pub fn identity(&self) -> &Identity {
        &self.core.identity
    }

    /// Returns `true` if the log had a witness of its end when it was opened, or follows a journal.
    pub(crate) fn is_end_known(&self) -> bool {
        self.witness.is_some() || self.core.identity.journal.is_some()
    }

    /// Returns a reader up to the head.
    pub fn reader(&self) -> Reader {
        let core = &self.core;
        let opening = Opening {
            notes: self.notes.clone(),
            end_known: self.is_end_known(),
            ..Opening::default()
        };
        let head = core.head.clone();
        Reader::opened(&core.storage, &core.dir, &core.identity, head, opening)
    }

    /// Converts the locked log into a writer, which folds its appends into `state`.
    pub fn into_writer<S: State>(self, mut state: S) -> Writer<S> {
        let core = self.core;
        if core.replica.is_some() {
            state.allow_retract();
        }
        assert!(
            core.pending.is_empty() && core.in_flight.is_none(),
            "{} events behind event {} must be written before others are",
            core.pending.len(),
            core.head.last_seq
        );
        Writer::new(Core {
            storage: core.storage,
            dir: core.dir,
            identity: core.identity,
            options: core.options,
            head: core.head,
            head_file: core.head_file,
            active: core.active,
            state,
            pending: core.pending,
            pending_bytes: core.pending_bytes,
            spare: core.spare,
            in_flight: core.in_flight,
            written: core.written,
            collect_events: core.collect_events,
            replica: core.replica,
            ended: core.ended,
            jobs: core.jobs,
            counts: core.counts,
            poisoned: core.poisoned,
            lock: core.lock,
        })
    }

    /// Records an event for each file in `quarantine/` that no event names, and returns their number. Reads the whole
    /// log if there are any files.
    pub fn name_quarantined(&mut self) -> Result<usize> {
        if self.core.replica.is_some() {
            return Ok(0);
        }
        let unnamed = recovery::unnamed(&self.reader())?;
        self.record(Vec::new(), &unnamed, None)?;
        Ok(unnamed.len())
    }

    /// Sets the witness to the end of the log that replaces this log.
    pub(crate) fn replace_witness(&self, identity: &Identity, head: &Head) -> Result<()> {
        let witness = Witness::from_head(identity, head);
        witness.map_or(Ok(()), |witness| self.core.lock.replace_witness(&witness))
    }

    pub(crate) fn into_lock(self) -> LogLock {
        self.core.lock
    }

    /// Fails if the lock was lost. Call this method right before another log replaces this log.
    pub(crate) fn check_lock(&self) -> Result<()> {
        self.core.lock.check(self.core.storage.as_ref(), false)
    }

    /// Records the removal of bytes by recovery as an event of the log.
    fn record(
        &mut self,
        mut events: Vec<NewEvent>,
        unnamed: &[Quarantined],
        cut: Option<Cut>,
    ) -> Result<()> {
        for file in unnamed {
            events.push(NewEvent::for_payload(QUARANTINED, ENGINE_ACTOR, file)?);
        }
        if let Some(cut) = cut {
            events.push(NewEvent::for_payload(CUT, &*cut.actor, &cut)?);
        }
        if events.is_empty() {
            return Ok(());
        }
        self.core.push(self.core.now(), events)?;
        self.core.flush()?;
        let head = &self.core.head;
        assert!(
            !head.cutting && !head.quarantining,
            "event {} records what recovery did, so no flag may ask for it",
            head.last_seq
        );
        // The new head clears the flag. The cleared flag is valid only after a sync.
        self.core.head_file.sync()
    }
}
