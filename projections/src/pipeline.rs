//! The bulk fold of a team: the engine's pipeline, with one step per projection.
//!
//! ```text
//! reader ──► decoder 0..n ──► sequencer ──► team │ messages │ tasks │ deliveries │ postings │ (inbox views)
//! ```

mod all;

use crate::event_index;
use crate::prelude::*;
pub(crate) use all::{FOLD_VERSION, PROJECTIONS};
use teamlog_engine::internals::derived::{Changes, Store};
use teamlog_engine::internals::pipeline::{self, Step};
pub use teamlog_engine::internals::pipeline::{Bulk, Progress};
pub(crate) use teamlog_engine::internals::pipeline::{Folded, holds, write_run};

/// Decoded events of one span; a foreign event has no fact.
pub(crate) type Batch = pipeline::Batch<Option<Fact>>;

fn fact(event: &Event<'_>) -> Result<Option<Fact>> {
    match event.foreign {
        true => Ok(None),
        false => Fact::decode(event).map(Some),
    }
}

/// Folds one event into all projections, including postings.
pub(crate) fn fold(overlay: &mut dyn Changes, event: &Event<'_>) -> Result<()> {
    if let Some(fact) = &fact(event)? {
        let mut tx = Tx::new(overlay);
        for projection in PROJECTIONS {
            (projection.apply)(&mut tx, Recorded { event, fact })?;
        }
    }
    key::postings(event, |key| overlay.put(&key, &[]));
    event_index::postings(event, |key| overlay.put(&key, &[]));
    Ok(())
}

/// Receives every batch in order, on a worker of its own.
pub(crate) type BatchReceiver<'a> = Box<dyn FnMut(&Batch) -> Result<()> + Send + 'a>;

/// Folds all events after the covered part of `store`: see [`pipeline::fold_all`].
pub(crate) fn fold_all(
    reader: &Reader,
    store: Store,
    bulk: Bulk,
    sink: Option<BatchReceiver<'_>>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Folded> {
    pipeline::fold_all(reader, store, bulk, &fact, steps(sink), progress)
}

/// Returns the folds, one per worker.
fn steps<'a>(sink: Option<BatchReceiver<'a>>) -> Vec<Step<'a, Option<Fact>, Error>> {
    let mut steps: Vec<Step<'a, Option<Fact>, Error>> = Vec::new();
    for projection in PROJECTIONS {
        steps.push(Box::new(move |table, batch| {
            let mut tx = Tx::new(table);
            for (event, fact) in batch.events() {
                if let Some(fact) = fact {
                    (projection.apply)(&mut tx, Recorded { event, fact })?;
                }
            }
            Ok(())
        }));
    }
    steps.push(Box::new(|table, batch| {
        for (event, _) in batch.events() {
            key::postings(event, |key| table.put(&key, &[]));
            event_index::postings(event, |key| table.put(&key, &[]));
        }
        Ok(())
    }));
    if let Some(mut sink) = sink {
        steps.push(Box::new(move |_, batch| sink(batch)));
    }
    steps
}

#[cfg(test)]
mod failing_test;
