//! Folding of a set's rows: from the stored runs up to the head of a reader.

use super::Progress;
use super::set::{ProjectionOptions, Set};
use crate::derived::{Anchor, Overlay, Store};
use crate::pipeline::{self, Tail, holds, write_run};
use crate::prelude::*;
use crate::reader::{Point, Reader};
use std::cell::Cell;

/// Bytes of log after which the tail becomes a run.
const TAIL_BYTES_MAX: u64 = 256 << 10;
/// Largest merge after a run, in bytes. Larger merges wait until there are more runs.
const MERGE_BYTES_MAX: u64 = 16 << 20;
/// Bytes of log after which a fold of the past writes a run.
const PAST_RUN_BYTES: u64 = 16 << 20;
/// Number of repairs of stored rows during one fold, before nothing stored is trusted.
const REPAIRS_MAX: usize = 4;

/// Rows as of an event: the stored runs, and the later changes in memory.
pub(super) struct FoldedRows {
    pub overlay: Overlay,
    /// Folded events that are in no run.
    tail: Tail,
    /// The last folded event; `None` if no event was folded.
    last: Option<Anchor>,
}

impl FoldedRows {
    /// Returns the rows of a store.
    pub fn stored(store: Store) -> FoldedRows {
        FoldedRows {
            last: store.covered(),
            overlay: Overlay::new(store),
            tail: Tail::default(),
        }
    }

    fn folded(folded: pipeline::Folded) -> FoldedRows {
        let (overlay, tail) = folded.into_overlay();
        let covered = overlay.store().covered();
        FoldedRows {
            last: tail.last.or(covered),
            overlay,
            tail,
        }
    }

    /// Returns the seq of the last folded event.
    pub fn seq(&self) -> u64 {
        self.last.map_or(0, |last| last.seq)
    }

    /// Returns true if the reader's log continues these rows: the log has the last folded event.
    pub fn is_before(&self, reader: &Reader) -> Result<bool> {
        self.last.map_or(Ok(true), |last| holds(reader, &last))
    }
}

/// A fold of a set up to the head of a reader.
pub(super) struct Fold<'a> {
    set: &'a Set,
    options: &'a ProjectionOptions,
    reader: &'a Reader,
}

impl<'a> Fold<'a> {
    pub fn new(set: &'a Set, options: &'a ProjectionOptions, reader: &'a Reader) -> Fold<'a> {
        Fold {
            set,
            options,
            reader,
        }
    }

    /// Brings the rows to the reader's head. After an error `Projection` the rows are as of the event before.
    pub fn catch_up(&self, rows: &mut FoldedRows) -> Result<()> {
        // A panic of a projection may have left changes of its event.
        rows.overlay.rollback();
        if !rows.is_before(self.reader)? {
            *rows = FoldedRows::stored(self.set.open(self.reader)?);
        }
        match self.advance(rows, false) {
            // A run was damaged, or another process merged and removed the run.
            Err(Error::Derived { .. }) => {
                let (mended, stopped) = self.mend(rows)?;
                *rows = mended;
                stopped.map_or(Ok(()), Err)
            }
            advanced => advanced,
        }
    }

    /// Returns the rows up to the reader's head after damage of the stored rows, and writes a run in place of the damaged run.
    pub fn mended(&self, rows: &FoldedRows) -> Result<FoldedRows> {
        let (mended, stopped) = self.mend(rows)?;
        stopped.map_or(Ok(mended), Err)
    }

    fn mend(&self, rows: &FoldedRows) -> Result<(FoldedRows, Option<Error>)> {
        let mut store = rows.overlay.store().clone();
        for repairs in 0.. {
            store = match repairs < REPAIRS_MAX {
                true => self.sound(&store)?,
                false => store.before(1),
            };
            let mut fresh = FoldedRows::stored(store.clone());
            match self.advance(&mut fresh, true) {
                Err(Error::Derived { .. }) if repairs < REPAIRS_MAX => {
                    store = fresh.overlay.store().clone();
                }
                Err(stopped @ Error::Projection { .. }) => return Ok((fresh, Some(stopped))),
                advanced => return advanced.map(|()| (fresh, None)),
            }
        }
        Ok((FoldedRows::stored(store), None))
    }

    /// Folds the events after the rows, and writes a run if one is due, or if `flush` is true.
    fn advance(&self, rows: &mut FoldedRows, flush: bool) -> Result<()> {
        let folded = self.fold_rest(rows);
        if matches!(folded, Ok(()) | Err(Error::Projection { .. })) {
            let long = rows.tail.bytes > TAIL_BYTES_MAX
                || rows.tail.places.len() >= self.options.tail_events.max(1);
            if long || flush {
                self.flush(rows)?;
            }
        }
        folded
    }

    fn fold_rest(&self, rows: &mut FoldedRows) -> Result<()> {
        let head = self.reader.head().last_seq;
        match head.saturating_sub(rows.seq()) {
            0 => Ok(()),
            rest if rest <= self.options.alone_max => self.fold_alone(rows),
            _ => {
                let sound = rows.overlay.store();
                let usable = Cell::new(!sound.is_superseded()?);
                let (folded, stopped) = self.fold_bulk(&|| match usable.replace(false) {
                    true => Ok(sound.clone()),
                    false => self.set.open(self.reader),
                })?;
                *rows = folded;
                stopped.map_or(Ok(()), Err)
            }
        }
    }

    /// Folds one event after the other in memory.
    fn fold_alone(&self, rows: &mut FoldedRows) -> Result<()> {
        let after = rows.last.map(|last| last.place);
        for read in self.reader.events(after) {
            let (place, crc, event) = read?;
            rows.overlay.begin();
            if let Err(error) = self.set.apply(&mut rows.overlay, &event) {
                rows.overlay.rollback();
                return Err(error);
            }
            rows.overlay.commit();
            rows.tail.push(&event, place, crc);
            rows.last = rows.tail.last;
        }
        self.options.report(Progress {
            events: rows.seq(),
            total: self.reader.head().last_seq,
        });
        Ok(())
    }

    /// Folds the events after a store on several threads. If a projection stops, returns its error and the rows as of the event
    /// before. `store` is called again after a stop, because the first attempt may have written runs.
    fn fold_bulk(&self, store: &dyn Fn() -> Result<Store>) -> Result<(FoldedRows, Option<Error>)> {
        let (mut reader, mut stopped) = (self.reader.clone(), None);
        loop {
            let folded = pipeline::fold_all(
                &reader,
                store()?,
                self.prepared(),
                &|_| Ok(()),
                self.set.steps(),
                &mut |progress| self.options.report(progress),
            );
            let error = match folded {
                Ok(folded) => return Ok((FoldedRows::folded(folded), stopped)),
                Err(error) => error,
            };
            let Error::Projection { seq, .. } = &error else {
                return Err(error);
            };
            let before = seq.saturating_sub(1);
            stopped = Some(error);
            match reader.upto(Point::Seq(before))? {
                Some(cut) => reader = cut,
                None => return Ok((FoldedRows::stored(store()?.before(1)), stopped)),
            }
        }
    }

    /// Returns the settings of a long fold. Creates the directory of its runs; if that fails, the rows stay in memory.
    fn prepared(&self) -> pipeline::Bulk {
        let _ = self.set.prepare(self.reader.storage().as_ref());
        self.options.bulk()
    }

    /// Writes the tail into a run, then merges runs if there are too many. If another process writes, or the files are read-only,
    /// the rows stay in memory.
    pub fn flush(&self, rows: &mut FoldedRows) -> Result<()> {
        let written = self.write_tail(rows)? || (self.reload(rows)? && self.write_tail(rows)?);
        if !written {
            return Ok(());
        }
        match rows.overlay.store().merge(MERGE_BYTES_MAX) {
            Ok(Some(merged)) => rows.overlay.rebased(merged),
            Ok(None) | Err(Error::Io { .. }) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Writes the tail into a run. Returns false if there is no tail, or if no run could be written.
    fn write_tail(&self, rows: &mut FoldedRows) -> Result<bool> {
        if rows.tail.places.is_empty() {
            return Ok(false);
        }
        let storage = self.reader.storage().as_ref();
        let _ = self.set.prepare(storage);
        let (store, changes) = (rows.overlay.store(), rows.overlay.changes().collect());
        let is_first = store.runs().is_empty();
        match write_run(store, &rows.tail, vec![changes]) {
            Ok(Some(store)) => {
                rows.overlay.flushed(store);
                rows.tail = Tail::default();
            }
            Ok(None) | Err(Error::Io { .. }) => return Ok(false),
            Err(error) => return Err(error),
        }
        if is_first {
            self.set.remove_others(storage);
        }
        Ok(true)
    }

    /// Continues from the runs that another process has written, so that the tail in memory stays short. Returns false if there are no
    /// such runs.
    fn reload(&self, rows: &mut FoldedRows) -> Result<bool> {
        if !rows.overlay.store().is_superseded()? {
            return Ok(false);
        }
        let mut fresh = FoldedRows::stored(self.set.open(self.reader)?);
        if fresh.seq() > rows.seq() {
            return Ok(false);
        }
        let reader = match self.reader.head().last_seq > rows.seq() {
            true => self.reader.upto(Point::Seq(rows.seq()))?,
            false => None,
        };
        let reader = reader.as_ref().unwrap_or(self.reader);
        Fold::new(self.set, self.options, reader).fold_rest(&mut fresh)?;
        *rows = fresh;
        Ok(true)
    }

    /// Returns the usable part of a store with an unusable run: the runs that replaced the unusable run, or else the runs before
    /// the damage. All returned runs are open.
    pub fn sound(&self, store: &Store) -> Result<Store> {
        let superseded = store.is_superseded()?;
        let store = match superseded {
            true => self.set.open_held(self.reader)?,
            false => store.hold()?,
        };
        Ok(match store.damaged() {
            Some(run) => store.before(run.first_seq),
            None if superseded => store,
            // No run is known to be damaged, so no run is trusted.
            None => store.before(1),
        })
    }

    /// Folds the whole log again, and replaces the stored rows.
    pub fn rebuild(&self, rows: &mut FoldedRows, deadline: Duration) -> Result<()> {
        let storage = self.reader.storage();
        let aside = self.set.aside(storage, deadline)?;
        let (mut folded, stopped) = self.fold_bulk(&|| Ok(aside.clone()))?;
        if let Some(merged) = folded.overlay.store().merge_all()? {
            folded.overlay.rebased(merged);
        }
        let installed = folded.overlay.store().clone().install()?;
        folded.overlay.rebased(installed);
        self.set.remove_others(storage.as_ref());
        *rows = folded;
        stopped.map_or(Ok(()), Err)
    }

    /// Returns the rows up to the reader's head, from the stored rows, without writing runs that others see.
    pub fn past_stored(&self) -> Result<FoldedRows> {
        let mut store = self.set.open(self.reader)?;
        for _ in 0..REPAIRS_MAX {
            match self.past(store.clone()) {
                Err(Error::Derived { .. }) => store = self.sound(&store)?,
                folded => return folded,
            }
        }
        self.past(store.before(1))
    }

    /// Folds the events after a store. A long fold writes its runs to a scratch directory to bound its memory. If the directory cannot
    /// be created, the rows stay in memory.
    pub fn past(&self, store: Store) -> Result<FoldedRows> {
        let mut rows = FoldedRows::stored(store);
        let rest = self.reader.head().last_seq.saturating_sub(rows.seq());
        if rest <= self.options.alone_max {
            self.fold_alone(&mut rows)?;
            return Ok(rows);
        }
        let run_bytes = self.options.run_bytes.min(PAST_RUN_BYTES);
        let bulk = pipeline::Bulk {
            run_bytes,
            ..self.prepared()
        };
        let Some(scratch) = rows.overlay.store().scratch() else {
            self.fold_alone(&mut rows)?;
            return Ok(rows);
        };
        let report = &mut |progress| self.options.report(progress);
        let folded = pipeline::fold_all(
            self.reader,
            scratch,
            bulk,
            &|_| Ok(()),
            self.set.steps(),
            report,
        )?;
        let mut rows = FoldedRows::folded(folded);
        let unlinked = rows.overlay.store().unlink()?;
        rows.overlay.rebased(unlinked);
        Ok(rows)
    }
}
