//! Loading of the state: opens the derived store and folds the later events.

use super::Live;
use crate::pipeline::{self, Bulk};
use crate::prelude::*;
use crate::state::Tail;
use std::io;
use teamlog_engine::Point;
use teamlog_engine::internals::derived::{Overlay, Store};
use teamlog_engine::storage::Storage;

/// Number of events of a tail above which the bulk pipeline folds the tail.
const BULK_EVENTS: u64 = 4096;

/// Bytes of log after which a fold of the past writes a run.
const PAST_RUN_BYTES: u64 = 16 << 20;

/// Decoder threads of a bulk fold during loading.
const DECODERS: usize = 2;

/// Returns the directory of a log's derived store. Each version of the projections and of the store has its own directory.
pub fn derived_dir(log: &Path) -> PathBuf {
    log.join(DERIVED_DIR).join(format!("v{}", fold_version()))
}

/// Directory of the stores of all versions.
pub const DERIVED_DIR: &str = "derived";

/// Returns the version by which events are folded. Hosts of one log compare this version.
pub fn fold_version() -> u32 {
    pipeline::FOLD_VERSION
}

/// Returns the directories of the stores of older versions, which are no longer read. Leaves out the stores of newer versions.
pub fn old_derived(storage: &dyn Storage, log: &Path) -> io::Result<Vec<PathBuf>> {
    let dir = log.join(DERIVED_DIR);
    let names = match storage.list(&dir) {
        // A file has the name of the directory. The next writer replaces the file.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(Vec::new());
        }
        names => names?,
    };
    let old = |name: &String| {
        let number = name.strip_prefix('v')?.parse::<u32>().ok()?;
        (number < fold_version() && *name == format!("v{number}")).then(|| dir.join(name))
    };
    Ok(names.iter().filter_map(old).collect())
}

/// Removes the stores of older versions. Ignores errors, because old stores do no harm.
pub fn remove_old_derived(storage: &dyn Storage, log: &Path) {
    for dir in old_derived(storage, log).unwrap_or_default() {
        let _ = storage.remove_dir_all(&dir);
    }
}

impl Live {
    /// Loads the state up to the reader's head: opens the derived store, rebuilds damaged or missing parts, folds the tail. Does
    /// not touch the views before [`Live::keep_views`].
    pub fn load(log: &Log, reader: &Reader) -> Result<Live> {
        let store = open(reader)?;
        match over(log, reader, store.clone()) {
            // A run was damaged, or another process merged and removed the run.
            Err(error) if error.is_derived() => afresh(log, reader, &store),
            loaded => loaded,
        }
    }

    /// Opens every run of the derived store, for long-running processes. Then the removal of a run by another process does not
    /// affect this state.
    pub fn hold(&mut self) -> Result<()> {
        let held = self.state.overlay.store().hold()?;
        let damaged = held.damaged();
        self.state.overlay.rebased(held);
        match damaged {
            Some(_) => self.repair(),
            None => Ok(()),
        }
    }

    /// Returns the state as of event `seq`, folded from the runs before that event. The time grows with the history, but the
    /// memory does not: see `past`. The returned state writes no views, and no runs that other processes see.
    pub fn at(log: &Log, reader: &Reader, seq: u64) -> Result<Live> {
        let cut = match reader.head().last_seq > seq {
            true => reader.upto(Point::Seq(seq))?,
            false => Some(reader.clone()),
        };
        let Some(cut) = cut else {
            let overlay = Overlay::new(open(reader)?.before(1));
            return Ok(Live::past(log, overlay, Tail::default(), 0));
        };
        let store = open(&cut)?;
        match past(log, &cut, store.clone()) {
            // A run was damaged, or another process merged and removed the run.
            Err(error) if error.is_derived() => past(log, &cut, sound(&cut, &store)?),
            loaded => loaded,
        }
    }

    /// Returns the state up to the reader's head. Starts from `before`, a state of the past, so that the events up to that
    /// state are not folded again.
    pub fn behind(log: &Log, reader: &Reader, before: &Live) -> Result<Live> {
        let store = open(reader)?;
        let covered = |store: &Store| store.covered().map_or(0, |anchor| anchor.seq);
        let known = before.state.overlay.store();
        match covered(known) > covered(&store) {
            true => past(log, reader, known.clone()),
            false => Live::at(log, reader, reader.head().last_seq),
        }
    }

    /// Reloads the state after an error for which [`is_derived`](crate::Error::is_derived) is true. Replaces damaged runs by new
    /// runs, and opens all runs.
    pub fn repair(&mut self) -> Result<()> {
        let log = self.log.clone();
        let reader = log.reader()?;
        let store = self.state.overlay.store();
        if self.past {
            let cut = reader
                .upto(Point::Seq(self.state.folded))?
                .unwrap_or(reader);
            *self = past(&log, &cut, sound(&cut, store)?)?;
            return Ok(());
        }
        let fresh = afresh(&log, &reader, store)?;
        let views = self.views.take();
        *self = fresh;
        self.views = views;
        Ok(())
    }

    /// Writes a run in place of a damaged run. If that fails, the state is still right, and the next command folds again. So a
    /// read-only log can be queried.
    fn mend(&mut self) -> Result<()> {
        match self.flush() {
            Err(Error::Engine(teamlog_engine::Error::Io { .. })) => Ok(()),
            flushed => flushed,
        }
    }
}

/// Opens the derived store of the reader's log; leaves out runs whose last event the log does not have.
pub(crate) fn open(reader: &Reader) -> Result<Store> {
    let storage = Arc::clone(reader.storage());
    let dir = derived_dir(reader.dir());
    Ok(Store::open(storage, &dir, &mut |anchor| {
        pipeline::holds(reader, anchor)
    })?)
}

/// Like [`open`], with every run open.
pub(crate) fn open_held(reader: &Reader) -> Result<Store> {
    let storage = Arc::clone(reader.storage());
    let dir = derived_dir(reader.dir());
    Ok(Store::open_held(storage, &dir, &mut |anchor| {
        pipeline::holds(reader, anchor)
    })?)
}

/// Returns the usable part of a store with an unusable run: the runs that replaced the unusable run, or else the runs before
/// the damage. All returned runs are open.
fn sound(reader: &Reader, store: &Store) -> Result<Store> {
    let superseded = store.is_superseded()?;
    let store = match superseded {
        true => open_held(reader)?,
        // Other runs may have been removed, too, so open all runs.
        false => store.hold()?,
    };
    Ok(match store.damaged() {
        Some(run) => store.before(run.first_seq),
        None if superseded => store,
        // No run is known to be damaged, so no run is trusted.
        None => store.before(1),
    })
}

/// Loads the state from the usable runs of a store, and replaces a damaged run.
fn afresh(log: &Log, reader: &Reader, store: &Store) -> Result<Live> {
    let mut live = over(log, reader, sound(reader, store)?)?;
    live.mend()?;
    Ok(live)
}

/// Returns the state from a store, with later events folded.
fn over(log: &Log, reader: &Reader, store: Store) -> Result<Live> {
    let covered = store.covered().map_or(0, |anchor| anchor.seq);
    let head = reader.head().last_seq;
    let (overlay, tail) = match head.saturating_sub(covered) > BULK_EVENTS {
        true => bulk(reader, store)?,
        false => serial(reader, store, head)?,
    };
    Ok(Live::new(log, overlay, tail, head))
}

fn bulk(reader: &Reader, store: Store) -> Result<(Overlay, Tail)> {
    let folded = pipeline::fold_all(reader, store, Bulk::new(DECODERS), None, &mut |_| {})?;
    Ok(folded.into_overlay())
}

fn serial(reader: &Reader, store: Store, head: u64) -> Result<(Overlay, Tail)> {
    let covered = store.covered();
    let (mut overlay, mut tail) = (Overlay::new(store), Tail::default());
    if covered.map_or(0, |anchor| anchor.seq) >= head {
        return Ok((overlay, tail));
    }
    for read in reader.events(covered.map(|anchor| anchor.place)) {
        let (place, crc, event) = read?;
        pipeline::fold(&mut overlay, &event)?;
        tail.push(&event, place, crc);
    }
    Ok((overlay, tail))
}

/// Builds a private state from a store, like [`over`]. A long fold writes its runs to a scratch directory to bound its memory. If
/// the directory cannot be created, the state stays in memory.
pub(super) fn past(log: &Log, reader: &Reader, store: Store) -> Result<Live> {
    let head = reader.head().last_seq;
    let covered = store.covered().map_or(0, |anchor| anchor.seq);
    let folded = head.saturating_sub(covered);
    let scratch = match folded > BULK_EVENTS {
        true => store.scratch(),
        false => None,
    };
    let Some(scratch) = scratch else {
        let (overlay, tail) = serial(reader, store, head)?;
        return Ok(Live::past(log, overlay, tail, head));
    };
    let (overlay, tail) = spilled(reader, scratch)?;
    let spilled = folded.saturating_sub(tail.places.len() as u64);
    Ok(Live {
        spilled,
        ..Live::past(log, overlay, tail, head)
    })
}

/// Folds all events after a store into runs that only this process sees.
fn spilled(reader: &Reader, scratch: Store) -> Result<(Overlay, Tail)> {
    let bulk = Bulk {
        run_bytes: PAST_RUN_BYTES,
        ..Bulk::new(DECODERS)
    };
    let folded = pipeline::fold_all(reader, scratch, bulk, None, &mut |_| {})?;
    let (mut overlay, tail) = folded.into_overlay();
    let unlinked = overlay.store().unlink()?;
    overlay.rebased(unlinked);
    Ok((overlay, tail))
}

impl Live {
    pub(crate) fn new(log: &Log, overlay: Overlay, tail: Tail, folded: u64) -> Live {
        Live {
            log: log.clone(),
            state: TeamState {
                overlay,
                tail,
                folded,
            },
            views: None,
            views_error: None,
            views_later: false,
            view_gate: Arc::default(),
            past: false,
            spilled: 0,
            retractable: false,
        }
    }

    pub(super) fn past(log: &Log, overlay: Overlay, tail: Tail, folded: u64) -> Live {
        Live {
            past: true,
            ..Live::new(log, overlay, tail, folded)
        }
    }
}
