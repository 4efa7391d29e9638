//! The store: a manifest and its runs.
//!
//! A [`Store`] is a view of the runs that the manifest named when it was opened. A run is opened when it is first
//! needed. Merges, replacements and removals by other processes never change a view's answers, but a run that was
//! removed before it was opened is missing. A missing run causes the same error as damage; [`Store::is_superseded`]
//! tells the difference, and the owner then opens the store again. [`Store::open_held`] opens all runs at once, so that
//! none can be missing later. Writers hold the derived lock, and detect other writers by comparing the manifest with
//! the manifest from which they started.

use super::build::RunBuilder;
use super::filter::{self, FilterBuilder, filter_key};
use super::manifest;
use super::page::Mark;
use super::run::Run;
use super::scan::{Scan, Walk};
use super::scratch::Scratch;
use super::why_unused::{self, WhyUnused};
use crate::lock;
use crate::prelude::*;
use crate::storage::{HeldLock, LockError};
use std::ffi::OsStr;

/// Largest number of runs after a merge, for any length of the log.
pub(super) const RUNS_MAX: usize = 8;
/// Largest number of runs while a merge of many bytes is postponed.
pub(super) const WAITING_RUNS_MAX: usize = 16;
/// Largest number of events of a run on level 0: somewhat more than one command records.
const LEVEL_EVENTS: u64 = 64;

/// The last event that a run covers, to compare the run with the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anchor {
    /// Seq of the event.
    pub seq: u64,
    /// Id of the event.
    pub id: EventId,
    /// Place of the event.
    pub place: Place,
    /// CRC of the event's frame.
    pub crc: u32,
}

/// A run in the manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunMeta {
    /// File name.
    pub name: String,
    /// File length.
    pub len: u64,
    /// First seq covered.
    pub first_seq: u64,
    /// Last event covered.
    pub last: Anchor,
    /// Level of the run: 0 for a flushed run of few events, higher for a flushed run of many events. The level of a merged run is
    /// one more than the highest level of its parts.
    pub level: u8,
}

/// A key with its new value; `None` deletes the key.
pub type Change<'a> = (&'a [u8], Option<&'a [u8]>);

/// Changes of the events `first_seq ..= last.seq`, to write as a run.
pub struct Delta<'a> {
    /// First seq covered.
    pub first_seq: u64,
    /// Last event covered.
    pub last: Anchor,
    /// Place of each event, in order.
    pub places: &'a [Place],
    /// Changed keys, strictly ascending, including the postings ([`super::key::postings`]). Postings have empty values, and their
    /// namespaces sort after all others.
    pub entries: Box<dyn Iterator<Item = Change<'a>> + 'a>,
}

/// An open view of the runs. Immutable: writing a run returns a new view. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    home: Arc<Home>,
    /// The runs in use, oldest first.
    runs: Arc<[Arc<Run>]>,
    /// The manifest as it was read; `None` if there was no manifest. A writer must find the manifest unchanged.
    base: Arc<Option<Vec<u8>>>,
    /// True if all runs of this view are open, and later runs are opened when they are added.
    held: bool,
}

/// Place of a store.
struct Home {
    storage: Arc<dyn Storage>,
    dir: PathBuf,
    /// Directory of private runs, until it is removed. Dropped before the lock that protects the directory.
    scratch: Option<Scratch>,
    /// Lock that this store holds. A store that is built aside holds the lock of the derived files; [`Store::install`] writes its
    /// manifest later. A store with private runs holds the lock of the directory of these runs.
    aside: Option<Box<dyn HeldLock>>,
}

impl Store {
    /// Opens the store in `dir`. A missing directory or manifest is an empty store. `holds` returns true if the log has an event. Leaves
    /// out the newest runs whose last event the log does not have. The next write drops these runs from the manifest.
    ///
    /// # Errors
    /// I/O errors, and errors of `holds`. Damage is not an error here: see [`Store::damaged`].
    pub fn open_held(
        storage: Arc<dyn Storage>,
        dir: &Path,
        holds: &mut dyn FnMut(&Anchor) -> Result<bool>,
    ) -> Result<Store> {
        loop {
            let store = Store::open(Arc::clone(&storage), dir, holds)?.hold()?;
            // The missing run may have been merged after the manifest was read.
            if store.damaged().is_none() || !store.is_superseded()? {
                return Ok(store);
            }
        }
    }
    /// Like `open_held`, but reads only the manifest; each run is opened when it is first needed.
    pub fn open(
        storage: Arc<dyn Storage>,
        dir: &Path,
        holds: &mut dyn FnMut(&Anchor) -> Result<bool>,
    ) -> Result<Store> {
        let home = Arc::new(Home {
            storage,
            dir: dir.to_owned(),
            aside: None,
            scratch: None,
        });
        let base = home.manifest()?;
        let runs = home.runs(base.as_deref(), holds)?;
        Ok(Store {
            home,
            runs: runs.into(),
            base: Arc::new(base),
            held: false,
        })
    }
    /// Returns the same view with every run open, for a long-lived process. Runs that are added later are opened at once, too. A
    /// run that is missing, or is another file, then counts as damaged.
    pub fn hold(&self) -> Result<Store> {
        self.open_runs()?;
        let held = true;
        Ok(Store {
            held,
            ..self.clone()
        })
    }
    /// Returns true if another process has written or merged runs after this view was opened. Then some runs of this view may be
    /// missing.
    pub fn is_superseded(&self) -> Result<bool> {
        Ok(self.home.aside.is_none() && self.home.manifest()? != *self.base)
    }
    /// Returns the runs in use, oldest first.
    pub fn runs(&self) -> Vec<RunMeta> {
        self.runs.iter().map(|run| run.meta().clone()).collect()
    }
    /// Returns the newest event that is covered without a gap from seq 1 on. Runs after a damaged run are ignored.
    pub fn covered(&self) -> Option<Anchor> {
        let sound = self.runs.iter().take_while(|run| !run.is_damaged());
        sound.last().map(|run| run.meta().last)
    }
    /// Returns the oldest run that was found missing or damaged. To repair the run, fold the events of the run's range,
    /// starting from the view that [`Store::before`] returns for the run's first seq. Then write the range by [`Store::write`]
    /// of this store.
    pub fn damaged(&self) -> Option<RunMeta> {
        let damaged = self.runs.iter().find(|run| run.is_damaged());
        damaged.map(|run| run.meta().clone())
    }
    /// Returns the reason, as text for people, why runs of the manifest are not in use. Returns `None` if all runs are in use, or
    /// if there is no manifest. The owner then folds the store again.
    pub fn left_out(&self) -> Option<String> {
        let manifest = self.base.as_ref().as_deref()?;
        match manifest::decode(manifest) {
            None => Some("its manifest is damaged, so it is not used".to_owned()),
            Some(named) if named.len() > self.runs.len() => Some(format!(
                "{} of the {} runs in its manifest end with an event that the log does not have",
                named.len() - self.runs.len(),
                named.len()
            )),
            Some(_) => None,
        }
    }
    /// Reads every byte of every run; returns the number of runs.
    ///
    /// # Errors
    /// `Derived` for the first damaged run ([`Store::damaged`] then names the oldest damaged run).
    pub fn check(&self) -> Result<usize> {
        self.open_runs()?;
        for run in self.runs.iter() {
            run.check()?;
        }
        let mut walk = Walk::everything(&self.runs)?;
        while walk.step()? {}
        Ok(self.runs.len())
    }
    /// Returns the number of blocks read after the runs were opened, each counted once: the cost of all queries so far.
    pub fn blocks_read(&self) -> u64 {
        self.runs.iter().map(|run| run.blocks_read()).sum()
    }
    /// Returns the number of runs opened so far.
    pub fn runs_opened(&self) -> usize {
        self.runs.iter().filter(|run| run.is_open()).count()
    }
    /// Returns the view of the runs that end before `seq`. A run written on that view replaces all later runs.
    pub fn before(&self, seq: u64) -> Store {
        let runs = self.runs.iter().take_while(|run| run.meta().last.seq < seq);
        self.with(runs.cloned().collect())
    }
    /// Returns the value of a key.
    ///
    /// # Errors
    /// `Derived` if a run that may hold the key is damaged ([`Store::damaged`] then names the run).
    pub fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        let hash = filter::hash(filter_key(key));
        for run in self.runs.iter().rev() {
            if run.shape().bounds.may_hold(key)
                && run.may_hold(hash)?
                && let Some(value) = run.get(key)?
            {
                return Ok(value.map(|range| run.share(range)));
            }
        }
        Ok(None)
    }
    /// Returns the live entries with `from <= key < to`, ascending, or descending if `reverse`. Fails like [`Store::get`].
    pub fn scan(&self, from: &[u8], to: &[u8], reverse: bool) -> Scan {
        Scan::new(Arc::clone(&self.runs), from, to, reverse)
    }
    /// Returns the place of the event `seq`, if a run covers it.
    ///
    /// # Errors
    /// `Derived` if the run that covers it is damaged.
    pub fn place(&self, seq: u64) -> Result<Option<Place>> {
        let index = self.runs.partition_point(|run| run.meta().last.seq < seq);
        match self.runs.get(index) {
            Some(run) if run.meta().first_seq <= seq => run.place(seq).map(Some),
            _ => Ok(None),
        }
    }
    /// Writes a run after the covered range, or in place of a (damaged) run with exactly the same range; then writes
    /// the manifest that names the run. Takes the derived lock without waiting. Returns `None` if another process holds
    /// the lock, or has changed the manifest since this view was opened; the caller must then open the store again. The
    /// lock is `X.lock` for a store in `X/vN`.
    ///
    /// # Errors
    /// I/O errors; `TooLarge` for a key, value or place that the format cannot hold.
    ///
    /// # Panics
    /// If the delta neither follows the last run nor has the range of an existing run, or if it does not have one place
    /// for each event.
    pub fn write(&self, delta: Delta<'_>) -> Result<Option<Store>> {
        let Some(_lock) = self.lock()? else {
            return Ok(None);
        };
        let same_range = |run: &Arc<Run>| {
            run.meta().first_seq == delta.first_seq && run.meta().last.seq == delta.last.seq
        };
        let mut runs = self.runs.to_vec();
        let (index, level) = match runs.iter().position(same_range) {
            Some(index) => (index, runs.get(index).map_or(0, |run| run.meta().level)),
            None => (runs.len(), level_of(delta.places.len() as u64)),
        };
        let next = runs.last().map_or(1, |run| run.meta().last.seq + 1);
        assert!(
            index < runs.len() || delta.first_seq == next,
            "a run from seq {} on cannot stand behind seq {}",
            delta.first_seq,
            next - 1
        );
        let range = (delta.first_seq, delta.last, level);
        let run = self.build(range, FilterBuilder::growing(), |builder| {
            for place in delta.places {
                builder.place(place)?;
            }
            for (key, value) in delta.entries {
                builder.entry(key, value)?;
            }
            Ok(())
        })?;
        runs.splice(index..runs.len().min(index + 1), [run]);
        self.publish(runs).map(Some)
    }
    /// Starts an empty store, to rebuild the store in `dir` while the old store stays in use. The new runs are invisible before
    /// [`Store::install`]. Waits for the derived lock at most `deadline`, and holds the lock until the last clone is dropped.
    ///
    /// # Errors
    /// `Locked`, I/O errors.
    pub fn aside(storage: Arc<dyn Storage>, dir: &Path, deadline: Duration) -> Result<Store> {
        let path = lock_path(dir);
        let held = storage.lock(&path, deadline);
        let held = held.map_err(|error| lock::refused(&path, deadline, error))?;
        let home = Home {
            storage,
            dir: dir.to_owned(),
            aside: Some(held),
            scratch: None,
        };
        Ok(Store {
            home: Arc::new(home),
            runs: Arc::new([]),
            base: Arc::new(None),
            held: false,
        })
    }
    /// Replaces the store in its directory by a store built aside, by one rename.
    pub fn install(self) -> Result<Store> {
        let base = self.home.write_manifest(&self.runs)?;
        Ok(Store {
            home: Arc::new(Home {
                storage: Arc::clone(&self.home.storage),
                dir: self.home.dir.clone(),
                aside: None,
                scratch: None,
            }),
            runs: self.runs,
            base: Arc::new(Some(base)),
            held: self.held,
        })
    }

    /// Returns a copy of this view for a private fold. The runs of the fold go to a directory beside the store's directory, and
    /// no manifest names them. Returns `None` if the directory cannot be created, for example on a read-only disk.
    pub fn scratch(&self) -> Option<Store> {
        let storage = &self.home.storage;
        let (scratch, held) = Scratch::claim(storage, self.home.dir.parent()?)?;
        let home = Home {
            storage: Arc::clone(storage),
            dir: scratch.dir().to_owned(),
            aside: Some(held),
            scratch: Some(scratch),
        };
        Some(Store {
            home: Arc::new(home),
            runs: Arc::clone(&self.runs),
            base: Arc::new(None),
            held: false,
        })
    }
    /// Opens every run of a view made by [`Store::scratch`], then removes the view's directory: open files stay
    /// readable, and nothing is left when the process ends.
    pub fn unlink(&self) -> Result<Store> {
        let held = self.hold()?;
        if let Some(scratch) = &self.home.scratch {
            scratch.remove();
        }
        Ok(held)
    }

    fn open_runs(&self) -> Result<()> {
        self.runs.iter().try_for_each(|run| run.open())
    }
    pub(super) fn in_use(&self) -> &[Arc<Run>] {
        &self.runs
    }
    fn with(&self, runs: Arc<[Arc<Run>]>) -> Store {
        Store {
            home: Arc::clone(&self.home),
            runs,
            base: Arc::clone(&self.base),
            held: self.held,
        }
    }
    /// Takes the derived lock for a change of this view. Returns `None` if another process holds the lock, or has written after
    /// this view was opened.
    pub(super) fn lock(&self) -> Result<Option<Turn>> {
        if self.home.aside.is_some() {
            return Ok(Some(Turn { _held: None }));
        }
        let path = lock_path(&self.home.dir);
        let held = match self.home.storage.lock(&path, Duration::ZERO) {
            Ok(held) => held,
            Err(LockError::Busy(_)) => return Ok(None),
            Err(LockError::Io(error)) => return Err(Error::io("lock", path)(error)),
        };
        let unchanged = self.home.manifest()? == *self.base;
        Ok(unchanged.then_some(Turn { _held: Some(held) }))
    }
    /// Builds the run of the events from `first_seq` to `last`, with the level `level`, in a new file.
    pub(super) fn build(
        &self,
        (first_seq, last, level): (u64, Anchor, u8),
        filter: FilterBuilder,
        fill: impl FnOnce(&mut RunBuilder) -> Result<()>,
    ) -> Result<Arc<Run>> {
        let known = self
            .runs
            .iter()
            .filter_map(|run| manifest::number_of(&run.meta().name));
        let (name, file) = self.home.create(known.max().unwrap_or(0) + 1)?;
        let path = self.home.dir.join(&name);
        let mut meta = RunMeta {
            name,
            len: 0,
            first_seq,
            last,
            level,
        };
        let mut builder = RunBuilder::new(file, path.clone(), Mark::for_run(&meta), filter);
        let built = fill(&mut builder).and_then(|()| builder.finish(last.seq + 1 - first_seq));
        if built.is_err() {
            // No manifest names the file, so remove it. Otherwise every command on a full disk would leave another file.
            let _ = self.home.storage.remove_file(&path);
        }
        let (len, shape) = built?;
        meta.len = len;
        Ok(Arc::new(self.home.run((meta, shape))))
    }
    /// Returns the view with the given runs, and writes the manifest unless the store is still built aside.
    pub(super) fn publish(&self, runs: Vec<Arc<Run>>) -> Result<Store> {
        assert!(
            runs.is_sorted_by(|a, b| a.meta().last.seq + 1 == b.meta().first_seq),
            "runs must follow each other without a gap: {:?}",
            runs.iter()
                .map(|run| (run.meta().first_seq, run.meta().last.seq))
                .collect::<Vec<_>>()
        );
        assert!(
            runs.first().is_none_or(|run| run.meta().first_seq == 1),
            "the first run must begin with event 1"
        );
        let mut store = self.with(runs.into());
        if self.home.aside.is_none() {
            store.base = Arc::new(Some(self.home.write_manifest(&store.runs)?));
        }
        if store.held {
            store.open_runs()?;
        }
        Ok(store)
    }
}

/// The right to change the store, held during a change.
pub(super) struct Turn {
    _held: Option<Box<dyn HeldLock>>,
}

impl Home {
    /// Reads the manifest; `None` if there is none.
    fn manifest(&self) -> Result<Option<Vec<u8>>> {
        let path = self.dir.join(manifest::NAME);
        match self.storage.read(&path, manifest::BYTES_MAX) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound => Ok(None),
                // A valid manifest is not empty, so the caller treats an empty manifest as damaged.
                io::ErrorKind::FileTooLarge => Ok(Some(Vec::new())),
                _ => match WhyUnused::from_error(&error) {
                    Some(WhyUnused::NoDirectory) => Ok(None),
                    Some(WhyUnused::NoFile) => Ok(Some(Vec::new())),
                    None => Err(Error::io("read", path)(error)),
                },
            },
        }
    }
    /// Returns the runs of a manifest up to the newest run whose last event is in the log.
    fn runs(
        &self,
        manifest: Option<&[u8]>,
        holds: &mut dyn FnMut(&Anchor) -> Result<bool>,
    ) -> Result<Vec<Arc<Run>>> {
        let mut named = manifest.and_then(manifest::decode).unwrap_or_default();
        while let Some((newest, _)) = named.last() {
            if holds(&newest.last)? {
                break;
            }
            named.pop();
        }
        let runs = named.into_iter().map(|named| Arc::new(self.run(named)));
        Ok(runs.collect())
    }
    fn run(&self, named: manifest::ManifestRun) -> Run {
        Run::new(Arc::clone(&self.storage), &self.dir, named)
    }
    /// Creates a file for a run, with the number `number` or a higher one. A name is used only once, because another process may
    /// have mapped the file of an earlier run.
    fn create(&self, mut number: u64) -> Result<(String, Box<dyn File>)> {
        why_unused::create_dir(&*self.storage, &self.dir)?;
        loop {
            let name = manifest::run_name(number);
            let path = self.dir.join(&name);
            match self.storage.open(&path, OpenMode::CreateNew) {
                Ok(file) => return Ok((name, file)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(Error::io("create", path)(error)),
            }
        }
    }
    /// Replaces the manifest, then removes runs that the manifest no longer names.
    fn write_manifest(&self, runs: &[Arc<Run>]) -> Result<Vec<u8>> {
        let bytes = manifest::encode(runs.iter().map(|run| (run.meta(), run.shape())));
        let path = self.dir.join(manifest::NAME);
        why_unused::create_dir(&*self.storage, &self.dir)?;
        why_unused::clear_file(&*self.storage, &path)?;
        self.storage
            .replace(&path, &bytes, false)
            .map_err(Error::io("replace", path))?;
        self.sweep(runs);
        Ok(bytes)
    }
    /// Removes the runs that no manifest names any more. Readers keep such runs mapped. A failure is ignored, because the next
    /// writer tries again.
    fn sweep(&self, runs: &[Arc<Run>]) {
        for name in self.storage.list(&self.dir).unwrap_or_default() {
            let in_use = runs.iter().any(|run| run.meta().name == name);
            if manifest::number_of(&name).is_some() && !in_use {
                let path = self.dir.join(name);
                let _ = why_unused::clear_file(&*self.storage, &path);
                let _ = self.storage.remove_file(&path);
            }
        }
    }
}

/// Returns `X.lock` for a store in `X/vN`.
fn lock_path(dir: &Path) -> PathBuf {
    let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty());
    let mut path = parent.unwrap_or(dir).as_os_str().to_owned();
    path.push(OsStr::new(".lock"));
    path.into()
}

/// Returns the level of a new run of `events` events. A run of the same size has this level if the run is the oldest and was
/// merged from small runs. Such a run on level L consists of at most C(L + [`RUNS_MAX`], [`RUNS_MAX`]) small runs (see
/// `merge.rs`).
pub(super) fn level_of(events: u64) -> u8 {
    let mut level = 0;
    let mut small_runs = 1_u64;
    while events > LEVEL_EVENTS.saturating_mul(small_runs) {
        level += 1;
        small_runs = small_runs.saturating_mul(level + RUNS_MAX as u64) / level;
    }
    level as u8
}
