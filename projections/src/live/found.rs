//! States for checks: the one that the derived store holds, and one folded anew from the log. Neither writes anything
//! beside the log: no run, no view.

use super::Live;
use super::load::{derived_dir, open, open_held, past};
use crate::pipeline::{self, Bulk, Progress};
use crate::prelude::*;
use crate::state::Tail;
use teamlog_engine::internals::derived::Store;
use teamlog_engine::storage::Storage;

/// A longer tail is not folded in memory for a check, since hardly anything stored could be compared with it.
const TAIL_EVENTS_MAX: u64 = 65_536;
/// Up to so many events a check folds in memory.
const SCRATCH_EVENTS_MIN: u64 = 65_536;
/// Nor is one of more events for a quick check: writers leave no such tail.
const QUICK_TAIL_EVENTS_MAX: u64 = 4_096;

/// What a log's derived store amounts to.
pub struct Found {
    /// How many runs it has.
    pub runs: usize,
    /// The last event that they cover without damage.
    pub covered: u64,
    /// Which run is damaged and how, if one is.
    pub damage: Option<String>,
    /// Why some or all of it is not used: see [`Store::left_out`].
    pub left_out: Option<String>,
    /// The state that its sound runs and the fold of the rest give; `None` where next to nothing is stored.
    pub live: Option<Live>,
}

impl Live {
    /// The state as the derived store has it, for a check: nothing is mended, and nothing written. Every byte of the store
    /// is read.
    ///
    /// # Errors
    /// `Corrupt`, I/O, `Undecodable`; `Derived` where a run proves damaged while the rest is folded.
    pub fn found(log: &Log, reader: &Reader) -> Result<Found> {
        let store = open_held(reader)?;
        let damage = match store.check() {
            Ok(_) => None,
            Err(error @ teamlog_engine::Error::Derived { .. }) => Some(error.to_string()),
            Err(error) => return Err(error.into()),
        };
        stored(log, reader, (store, damage), TAIL_EVENTS_MAX)
    }

    /// The same as far as opening the store and the fold of a short tail tell.
    pub fn opened(log: &Log, reader: &Reader) -> Result<Found> {
        let store = open_held(reader)?;
        let damage = store
            .damaged()
            .map(|run| format!("{} is damaged", run.name));
        stored(log, reader, (store, damage), QUICK_TAIL_EVENTS_MAX)
    }

    /// The state folded from the whole log, with runs of its own beside the derived store, or on `scratch` where none can be
    /// written there. The derived store is not read.
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
        // The store's lock lies beside it.
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
) -> Result<Found> {
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
    Ok(Found {
        runs: store.runs().len(),
        covered,
        damage,
        left_out: store.left_out(),
        live,
    })
}
