//! Rebuilding of all derived data from the log: first a new derived store, then all views.

use crate::files::{Home, ViewUpdate};
use crate::live::{Counts, Live, derived_dir, remove_old_derived};
use crate::message::view::Inboxes;
use crate::pipeline::{self, Bulk};
use crate::prelude::*;
use crate::team::TeamInfo;
use crate::views::Views;
use crate::views::mend::{clear, mend_files, mend_inboxes};
use std::time::Duration;
use teamlog_engine::internals::derived::Store;

pub use crate::pipeline::Progress;

/// Result of a rebuild.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rehydrated {
    /// Counts of events, messages and tasks.
    pub counts: Counts,
    /// Digest of the state, lower-case hex.
    pub digest: String,
    /// Result of updating the views.
    pub views: ViewUpdate,
    /// Duration, by the log's clock.
    pub elapsed: Duration,
}

impl Rehydrated {
    /// Returns events per second.
    pub fn rate(&self) -> f64 {
        self.counts.events as f64 / self.elapsed.as_secs_f64().max(1e-6)
    }
}

/// Folds the whole log into a new derived store with `workers` decoders, replaces the old store, and updates all views.
/// The caller holds the log's lock.
pub fn rehydrate(
    log: &Log,
    reader: &Reader,
    workers: usize,
    progress: &mut dyn FnMut(Progress),
) -> Result<(Rehydrated, Live)> {
    rehydrate_with(log, reader, Bulk::new(workers), progress)
}

/// Like [`rehydrate`], with the given settings of the bulk fold.
pub fn rehydrate_with(
    log: &Log,
    reader: &Reader,
    bulk: Bulk,
    progress: &mut dyn FnMut(Progress),
) -> Result<(Rehydrated, Live)> {
    let options = log.options();
    let start = options.clock.now();
    // A changed segment must not be used for rebuilding.
    reader.check_chain()?;
    let dir = derived_dir(reader.dir());
    let store = Store::aside(Arc::clone(reader.storage()), &dir, options.lock_deadline)?;
    let mut inboxes = Inboxes::new(Home::from_reader(reader))?;
    let folded = pipeline::fold_all(
        reader,
        store,
        bulk,
        Some(Box::new(|batch| {
            let mut facts = batch.events();
            facts.try_for_each(|(event, fact)| match fact {
                Some(fact) => inboxes.take(event, fact),
                None => Ok(()),
            })
        })),
        progress,
    )?;
    // The disk may have been full for a while, so that the last changes are in no run.
    let (mut overlay, tail) = folded.into_overlay();
    if let Some(merged) = overlay.store().merge_all()? {
        overlay.rebased(merged);
    }
    let installed = overlay.store().clone().install()?;
    overlay.rebased(installed);
    remove_old_derived(reader.storage().as_ref(), reader.dir());
    let mut live = Live::new(log, overlay, tail, reader.head().last_seq);
    let views = mend_views(&live, (log, reader), inboxes)?;
    let digest = live.digest()?;
    let counts = live.counts()?;
    live.keep_views(reader)?;
    let elapsed = options.clock.now().micros() - start.micros();
    let elapsed = Duration::from_micros(elapsed.unsigned_abs());
    Ok((
        Rehydrated {
            counts,
            digest,
            views,
            elapsed,
        },
        live,
    ))
}

fn mend_views(live: &Live, (log, reader): (&Log, &Reader), inboxes: Inboxes) -> Result<ViewUpdate> {
    let mut mended = ViewUpdate::default();
    let home = Home::from_reader(reader);
    if !live.team()?.as_ref().is_some_and(TeamInfo::keeps_views) {
        inboxes.discard()?;
        return match live.is_closed()? {
            true => clear(&home),
            false => Ok(mended),
        };
    }
    mended.add(mend_files(live, reader, &home)?);
    match inboxes.wanted() {
        true => mended.add(inboxes.finish(live, reader)?),
        // The team was created without views and got views later, so the inboxes were not built during the fold.
        false => mended.add(mend_inboxes(live, reader, &home)?),
    }
    let now = log.options().clock.now().micros();
    Views::open(reader, log, false, Arc::default())?.settle_all(live.seq(), now)?;
    Ok(mended)
}
