//! States for checks: the stored state, and a state that is folded again from the whole log. Neither writes runs or views.

use super::Live;
use super::load::{derived_dir, open, open_held, past};
use crate::pipeline::{self, Bulk, Progress};
use crate::prelude::*;
use crate::state::Tail;
use teamlog_engine::internals::derived::Store;
use teamlog_engine::storage::Storage;

/// Longest tail that a check folds in memory, in events. If the tail is longer, too little stored data is left to compare.
const TAIL_EVENTS_MAX: u64 = 65_536;
/// Largest number of events that a check folds in memory. A longer log is folded into a scratch store.
const SCRATCH_EVENTS_MIN: u64 = 65_536;
/// Longest tail that a quick check folds, in events. Writers leave no longer tail.
const QUICK_TAIL_EVENTS_MAX: u64 = 4_096;

/// Condition of a log's derived store.
pub struct DerivedReport {
    /// Number of runs.
    pub runs: usize,
    /// Last event that the runs cover without damage.
    pub covered: u64,
    /// The damaged run and its damage, if there is one.
    pub damage: Option<String>,
    /// Reason for which some or all runs are not used: see [`Store::left_out`].
    pub left_out: Option<String>,
    /// State from the sound runs and the fold of the later events; `None` if the runs cover too little of the log.
    pub live: Option<Live>,
}

impl Live {
    /// Returns the stored state for a check. Repairs and writes nothing. Reads every byte of the store.
    ///
    /// # Errors
    /// `Corrupt`, I/O, `Undecodable`; `Derived` if damage of a run is found during the fold.
    pub fn found(log: &Log, reader: &Reader) -> Result<DerivedReport> {
        let store = open_held(reader)?;
        let damage = match store.check() {
            Ok(_) => None,
            Err(error @ teamlog_engine::Error::Derived { .. }) => Some(error.to_string()),
            Err(error) => return Err(error.into()),
        };
        stored(log, reader, (store, damage), TAIL_EVENTS_MAX)
    }

    /// Like [`Live::found`], but only opens the store and folds a short tail.
    pub fn opened(log: &Log, reader: &Reader) -> Result<DerivedReport> {
        let store = open_held(reader)?;
        let damage = store
            .damaged()
            .map(|run| format!("{} is damaged", run.name));
        stored(log, reader, (store, damage), QUICK_TAIL_EVENTS_MAX)
    }

    /// Folds the whole log again, into separate runs in the log's directory, or on `scratch` if the log's directory is not
    /// writable. Does not read the derived store.
    pub fn fresh(
        log: &Log,
        reader: &Reader,
        scratch: Arc<dyn Storage>,
        workers: usize,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Live> {
        let bulk = Bulk::new(workers);
        let seq = reader.head().last_seq;
        let beside = match seq > SCRATCH_EVENTS_MIN {
            true => open(reader)?.before(1).scratch(),
            false => None,
        };
        if let Some(store) = beside {
            let folded = pipeline::fold_all(reader, store, bulk, None, progress)?;
            let (mut overlay, _) = folded.into_overlay();
            let unlinked = overlay.store().unlink()?;
            overlay.rebased(unlinked);
            return Ok(Live::past(log, overlay, Tail::default(), seq));
        }
        let dir = derived_dir(reader.dir());
        // The lock of the scratch store is a file in the same directory.
        scratch
            .create_dir_all(reader.dir())
            .map_err(teamlog_engine::Error::io("create", reader.dir()))?;
        let store = Store::aside(scratch, &dir, log.options().lock_deadline)?;
        let folded = pipeline::fold_all(reader, store, bulk, None, progress)?;
        let (overlay, _) = folded.into_overlay();
        Ok(Live::past(log, overlay, Tail::default(), seq))
    }
}

fn stored(
    log: &Log,
    reader: &Reader,
    (store, damage): (Store, Option<String>),
    tail_max: u64,
) -> Result<DerivedReport> {
    let sound = match store.damaged() {
        Some(run) => store.before(run.first_seq),
        None => store.clone(),
    };
    let head = reader.head().last_seq;
    let covered = sound.covered().map_or(0, |anchor| anchor.seq);
    let live = match head.saturating_sub(covered) > tail_max {
        true => None,
        false => Some(past(log, reader, sound)?),
    };
    Ok(DerivedReport {
        runs: store.runs().len(),
        covered,
        damage,
        left_out: store.left_out(),
        live,
    })
}
