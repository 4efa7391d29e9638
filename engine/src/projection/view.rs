//! The rows of a set as its programs read them: now, and as of a point of the past.

use super::Projection;
use super::fold::{Fold, FoldedRows};
use super::rows::{StoredKey, number};
use super::scan::{RowScan, prefixed};
use super::set::{ProjectionOptions, Set};
use crate::log::Log;
use crate::prelude::*;
use crate::reader::{Point, Reader};
use std::ops::{Deref, RangeBounds};
use std::sync::{PoisonError, RwLock};

/// Rows of a set of projections as of one event. Any number of threads may read.
///
/// Functions that read rows repair damaged files: they fold the events again and answer.
pub struct ProjectionRows {
    log: Log,
    set: Arc<Set>,
    options: ProjectionOptions,
    /// True for rows of the past, which write no runs that others see.
    past: bool,
    state: RwLock<FoldedRows>,
}

impl ProjectionRows {
    /// Returns the seq of the last folded event; 0 if no event was folded.
    pub fn seq(&self) -> u64 {
        self.with(|rows| rows.seq())
    }

    /// Returns the value of a row of `projection`; `None` if there is no such row.
    ///
    /// # Errors
    /// `Invalid` if the set has no such projection, I/O, `Corrupt`.
    pub fn get(&self, projection: &str, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let key = StoredKey::new(self.set.namespace(projection)?, key);
        self.read(|rows| Ok(rows.overlay.get(key.bytes())?.map(|value| value.to_vec())))
    }

    /// Returns a row that [`RowChanges::put_number`](super::RowChanges::put_number) wrote; `None` if there is no such row.
    ///
    /// # Errors
    /// The errors of [`ProjectionRows::get`]; `Invalid` for a row that is no number.
    pub fn number(&self, projection: &str, key: &[u8]) -> Result<Option<i64>> {
        let value = self.get(projection, key)?;
        let number = value.map(|value| number(&value)).transpose();
        number.map_err(|why| Error::invalid("a row", String::from_utf8_lossy(key), why))
    }

    /// Returns the rows of `projection` whose keys are in `range`, in the order of the keys, or in the reverse order. Reads the rows in
    /// pages, so the memory does not grow with the range.
    ///
    /// # Errors
    /// `Invalid` if the set has no such projection. The iterator returns the errors of reading.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # fn show(rows: &teamlog_engine::projection::ProjectionRows) -> teamlog_engine::Result<()> {
    /// for row in rows.scan("orders", b"a".to_vec()..b"c".to_vec(), false)? {
    ///     let (key, value) = row?;
    /// }
    /// let newest = rows.scan("orders", .., true)?.next();
    /// # Ok(())
    /// # }
    /// ```
    pub fn scan(
        &self,
        projection: &str,
        range: impl RangeBounds<Vec<u8>>,
        reverse: bool,
    ) -> Result<RowScan<'_>> {
        let namespace = self.set.namespace(projection)?;
        Ok(RowScan::new(self, namespace, &range, reverse))
    }

    /// Returns the rows of `projection` whose keys begin with `prefix`: see [`ProjectionRows::scan`].
    ///
    /// # Errors
    /// The errors of [`ProjectionRows::scan`].
    pub fn scan_prefix(
        &self,
        projection: &str,
        prefix: &[u8],
        reverse: bool,
    ) -> Result<RowScan<'_>> {
        self.scan(projection, prefixed(prefix), reverse)
    }

    /// Returns the digest of all rows and of the projections' names and versions, as lower-case hex. The same events give the same
    /// digest, in any process and with any options. Reads all rows.
    ///
    /// # Errors
    /// I/O, `Corrupt`.
    pub fn digest(&self) -> Result<String> {
        self.read(|rows| self.set.digest(&rows.overlay))
    }

    fn fold<'a>(&'a self, reader: &'a Reader) -> Fold<'a> {
        Fold::new(&self.set, &self.options, reader)
    }

    fn with<T>(&self, read: impl FnOnce(&FoldedRows) -> T) -> T {
        read(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads rows. If a file is damaged, folds the rows again first.
    pub(super) fn read<T>(&self, read: impl Fn(&FoldedRows) -> Result<T>) -> Result<T> {
        match self.with(&read) {
            Err(Error::Derived { .. }) => {}
            answer => return answer,
        }
        let mut rows = self.state.write().unwrap_or_else(PoisonError::into_inner);
        loop {
            match read(&rows) {
                Err(damage @ Error::Derived { .. }) => self.repair(&mut rows, &damage)?,
                answer => return answer,
            }
        }
    }

    /// Folds the same rows again from the sound files. Each call leaves out at least one more run.
    fn repair(&self, rows: &mut FoldedRows, damage: &Error) -> Result<()> {
        let (reader, seq) = (self.log.reader()?, rows.seq());
        if rows.overlay.store().runs().is_empty() || !rows.is_before(&reader)? {
            return Err(damage.clone());
        }
        let Some(reader) = upto(&reader, seq)? else {
            return Err(damage.clone());
        };
        let fold = self.fold(&reader);
        *rows = match self.past {
            true => fold.past(fold.sound(rows.overlay.store())?)?,
            false => fold.mended(rows)?,
        };
        Ok(())
    }
}

impl std::fmt::Debug for ProjectionRows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProjectionRows")
            .field("seq", &self.seq())
            .finish_non_exhaustive()
    }
}

/// Returns a reader up to the event `seq`.
fn upto(reader: &Reader, seq: u64) -> Result<Option<Reader>> {
    match reader.head().last_seq > seq {
        true => reader.upto(Point::Seq(seq)),
        false => Ok(Some(reader.clone())),
    }
}

/// A set of projections over a log: the rows up to the last [`Projections::catch_up`].
///
/// Reads are methods of [`ProjectionRows`].
#[derive(Debug)]
pub struct Projections {
    rows: ProjectionRows,
}

impl Deref for Projections {
    type Target = ProjectionRows;
    fn deref(&self) -> &ProjectionRows {
        &self.rows
    }
}

impl Projections {
    /// Opens the set `name` of a log. Folds nothing yet: the rows are the stored rows, which are as old as the last stored run.
    ///
    /// # Errors
    /// `Invalid` if a name breaks its rule, if two projections have the same name, or if there are no projections or too many
    /// ([`PROJECTIONS_MAX`](crate::limits::PROJECTIONS_MAX)); I/O, `Corrupt`.
    pub fn open(
        log: &Log,
        name: &str,
        projections: Vec<Arc<dyn Projection>>,
        options: ProjectionOptions,
    ) -> Result<Projections> {
        let set = Arc::new(Set::new(log.dir(), name, projections)?);
        let reader = log.reader()?;
        let stored = FoldedRows::stored(set.open(&reader)?);
        Ok(Projections {
            rows: ProjectionRows {
                log: log.clone(),
                set,
                options,
                past: false,
                state: RwLock::new(stored),
            },
        })
    }

    /// Folds the events that were recorded since the last call, and returns the seq of the last folded event. Writes a run after some
    /// events; if another process writes, or the files are read-only, the rows stay in memory.
    ///
    /// # Errors
    /// `Projection` if a fold refused an event: the rows stay as of the event before. The next call tries the event again. I/O,
    /// `Corrupt`.
    pub fn catch_up(&mut self) -> Result<u64> {
        let reader = self.rows.log.reader()?;
        self.catch_up_to(&reader)
    }

    /// Like [`Projections::catch_up`], up to the head of a reader of the same log. If the rows are as of a later event, they become as
    /// old as the reader.
    ///
    /// # Errors
    /// The errors of [`Projections::catch_up`].
    pub fn catch_up_to(&mut self, reader: &Reader) -> Result<u64> {
        let fold = Fold::new(&self.rows.set, &self.rows.options, reader);
        let state = self.rows.state.get_mut();
        let rows = state.unwrap_or_else(PoisonError::into_inner);
        fold.catch_up(rows)?;
        Ok(rows.seq())
    }

    /// Writes the rows that are only in memory to a run. Does nothing if another process writes, or if the files are read-only.
    ///
    /// # Errors
    /// I/O errors of reading, `Corrupt`.
    pub fn flush(&mut self) -> Result<()> {
        let reader = self.rows.log.reader()?;
        let fold = Fold::new(&self.rows.set, &self.rows.options, &reader);
        let state = self.rows.state.get_mut();
        fold.flush(state.unwrap_or_else(PoisonError::into_inner))
    }

    /// Folds the whole log again, on several threads, and replaces the stored rows. Returns the seq of the last folded event.
    ///
    /// # Errors
    /// The errors of [`Projections::catch_up`]; `Locked` if another process writes the rows of this set.
    pub fn rebuild(&mut self) -> Result<u64> {
        let deadline = self.rows.log.options().lock_deadline;
        let reader = self.rows.log.reader()?;
        let fold = Fold::new(&self.rows.set, &self.rows.options, &reader);
        let state = self.rows.state.get_mut();
        let rows = state.unwrap_or_else(PoisonError::into_inner);
        fold.rebuild(rows, deadline)?;
        Ok(rows.seq())
    }

    /// Returns the rows as of a point of the past. Starts from the stored rows before that point, and folds the events between. A point
    /// after the log's end gives the rows as of the last event.
    ///
    /// # Errors
    /// The errors of [`Projections::catch_up`].
    pub fn at(&self, point: Point) -> Result<ProjectionRows> {
        let reader = self.rows.log.reader()?;
        match reader.upto(point)? {
            Some(cut) => self.at_reader(&cut),
            None => Ok(self.past(FoldedRows::stored(self.rows.set.open(&reader)?.before(1)))),
        }
    }

    /// Returns the rows as of the head of a reader of the same log: see [`Projections::at`].
    ///
    /// # Errors
    /// The errors of [`Projections::catch_up`].
    pub fn at_reader(&self, reader: &Reader) -> Result<ProjectionRows> {
        let fold = Fold::new(&self.rows.set, &self.rows.options, reader);
        Ok(self.past(fold.past_stored()?))
    }

    fn past(&self, folded: FoldedRows) -> ProjectionRows {
        let ProjectionRows {
            log, set, options, ..
        } = &self.rows;
        ProjectionRows {
            log: log.clone(),
            set: Arc::clone(set),
            options: options.clone(),
            past: true,
            state: RwLock::new(folded),
        }
    }
}
