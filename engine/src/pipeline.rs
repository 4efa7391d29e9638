//! The bulk pipeline: decodes spans of the log in parallel, and folds the ordered stream with one worker per step.
//!
//! ```text
//! reader ──► decoder 0..n ──► sequencer ──► step 0 │ step 1 │ …
//! ```
//!
//! Decoder `i mod n` decodes span `i`, and the sequencer receives the spans in turn, so the order never depends on
//! timing; all channels are bounded. After a fixed amount of log the sequencer collects the workers' tables and writes
//! a run. So the result is the same for any number of decoders, and also for the caller's own thread alone, which does
//! all the work if no threads can be started.
//!
//! The pipeline knows no fold: the caller gives the decoder of an event, and the steps. Each step changes rows of its own
//! namespaces only.

mod batch;
mod run;
mod sequencer;
mod tail;

pub use batch::Batch;
pub use run::write_run;
pub use tail::{Tail, holds};

use crate::derived::{Overlay, Store, Table};
use crate::prelude::*;
use crate::reader::{Reader, SPAN_BYTES, Span};
use crossbeam_channel::{Receiver, Sender, bounded};
use sequencer::{Hands, Sequencer};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};

/// Bytes of log per run. The tables of a run take about twice as much memory.
const RUN_BYTES: u64 = 32 << 20;

/// Largest number of events that one thread folds, and of changes that one thread sorts, without starting other threads.
const ALONE_MAX: u64 = 512;

/// Settings of a bulk fold.
#[derive(Debug, Clone, Copy)]
pub struct Bulk {
    /// Number of decoder threads. Does not affect the result.
    pub decoders: usize,
    /// Approximate bytes of log per span.
    pub span_bytes: usize,
    /// Bytes of log per run.
    pub run_bytes: u64,
    /// Largest number of events that this thread folds alone. Does not affect the result.
    pub alone_max: u64,
}

impl Bulk {
    /// Creates settings with the given number of decoders.
    pub fn new(decoders: usize) -> Bulk {
        Bulk {
            decoders: decoders.clamp(1, 64),
            span_bytes: SPAN_BYTES,
            run_bytes: RUN_BYTES,
            alone_max: ALONE_MAX,
        }
    }
}

/// Spans that may wait for a worker.
const WAITING_MAX: usize = 4;

/// Progress of a fold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Number of folded events.
    pub events: u64,
    /// Number of all events.
    pub total: u64,
}

/// Result of a bulk fold.
pub struct Folded {
    /// Store with the written runs.
    pub store: Store,
    /// Changes that no run holds yet, with their events. Empty unless writing a run failed.
    pub unwritten: Vec<Table>,
    /// Events of the changes in `unwritten`.
    pub tail: Tail,
}

impl Folded {
    /// Returns the state, and the events that are in no run.
    pub fn into_overlay(self) -> (Overlay, Tail) {
        let mut overlay = Overlay::new(self.store);
        for (key, value) in self.unwritten.iter().flat_map(Table::changes) {
            match value {
                Some(value) => overlay.put(key, value),
                None => overlay.delete(key),
            }
        }
        (overlay, self.tail)
    }
}

/// Folds every batch in order into a table, on a worker of its own. Tables of different steps never hold the same key.
pub type Step<'a, T, E> = Box<dyn FnMut(&mut Table, &Batch<T>) -> Result<(), E> + Send + 'a>;

enum Order<T> {
    Fold(Arc<Batch<T>>),
    /// Hand over the table, and continue with the next received table.
    Cut(Sender<Table>, Receiver<Table>),
}

/// Folds all events after the covered part of `store`. `decode` reads each event once, for all steps. If a run cannot be
/// written, because another process writes or the store is read-only, the changes of the run stay in memory.
///
/// # Errors
/// The errors of `decode` and of the steps. Runs that were written before the error stay in the store.
pub fn fold_all<T: Send + Sync, E: From<Error> + Send>(
    reader: &Reader,
    store: Store,
    bulk: Bulk,
    decode: &(impl Fn(&Event<'_>) -> Result<T, E> + Sync),
    mut steps: Vec<Step<'_, T, E>>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Folded, E> {
    let covered = store.covered().map_or(0, |anchor| anchor.seq);
    let folded = match reader.head().last_seq.saturating_sub(covered) > bulk.alone_max {
        true => side_by_side(reader, &store, bulk, decode, &mut steps, progress),
        false => Err(NoThread),
    };
    match folded {
        Ok(folded) => folded,
        Err(NoThread) => alone(reader, store, bulk, decode, &mut steps, progress),
    }
}

/// Error: no thread could be started; nothing was folded yet.
struct NoThread;

fn side_by_side<T: Send + Sync, E: From<Error> + Send>(
    reader: &Reader,
    store: &Store,
    bulk: Bulk,
    decode: &(impl Fn(&Event<'_>) -> Result<T, E> + Sync),
    steps: &mut [Step<'_, T, E>],
    progress: &mut dyn FnMut(Progress),
) -> Result<Result<Folded, E>, NoThread> {
    let failing = &AtomicBool::new(false);
    let covered = store.covered().map(|anchor| anchor.place);
    // On an early return the channels close, and the started threads end.
    thread::scope(|scope| {
        let (spans, batches) = decoding(scope, reader, covered, bulk, decode)?;
        let mut workers = Vec::new();
        for step in steps {
            let (orders, received) = bounded(WAITING_MAX);
            let table = Table::new(store.clone());
            let worker = started(scope, move || work(&received, table, step, failing))?;
            workers.push((orders, worker));
        }
        let (orders, handles): (Vec<_>, Vec<_>) = workers.into_iter().unzip();
        let hands = Hands::Workers(orders, Vec::new());
        let sequencer = Sequencer::new(hands, store.clone(), bulk, failing);
        let in_turn = batches.iter().cycle().map_while(|batch| batch.recv().ok());
        let outcome = sequencer.run(reader, in_turn, progress);
        // Dropping the channels unblocks decoders that wait to hand over a batch.
        drop(batches);
        let failed = handles
            .into_iter()
            .filter_map(|handle| joined(handle).err())
            .next();
        joined(spans);
        Ok(match failed {
            Some(error) => Err(error),
            None => outcome,
        })
    })
}

fn alone<T, E: From<Error>>(
    reader: &Reader,
    store: Store,
    bulk: Bulk,
    decode: &impl Fn(&Event<'_>) -> Result<T, E>,
    steps: &mut [Step<'_, T, E>],
    progress: &mut dyn FnMut(Progress),
) -> Result<Folded, E> {
    let tables = steps.iter().map(|_| Table::new(store.clone())).collect();
    let covered = store.covered().map(|anchor| anchor.place);
    let spans = reader.spans(covered, bulk.span_bytes);
    let batches = spans.map(|span| Batch::decode(span?, decode));
    let failing = AtomicBool::new(false);
    let sequencer = Sequencer::new(Hands::Own(steps, tables), store, bulk, &failing);
    sequencer.run(reader, batches, progress)
}

fn started<'scope, T: Send + 'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, NoThread> {
    let started = thread::Builder::new().spawn_scoped(scope, work);
    started.map_err(|_| NoThread)
}

/// Processes orders until the channel closes, also after an error; otherwise the sequencer would wait forever for a
/// table.
fn work<T, E>(
    orders: &Receiver<Order<T>>,
    mut table: Table,
    step: &mut Step<'_, T, E>,
    failing: &AtomicBool,
) -> Result<(), E> {
    let mut failed = None;
    for order in orders {
        match order {
            _ if failed.is_some() => {}
            Order::Fold(batch) => {
                failed = step(&mut table, &batch).err();
                failing.fetch_or(failed.is_some(), Ordering::Relaxed);
            }
            Order::Cut(out, back) => {
                if out.send(table).is_err() {
                    return Ok(());
                }
                match back.recv() {
                    Ok(given) => table = given,
                    Err(_) => return Ok(()),
                }
            }
        }
    }
    failed.map_or(Ok(()), Err)
}

type Decoding<'scope, T, E> = (
    ScopedJoinHandle<'scope, ()>,
    Vec<Receiver<Result<Batch<T>, E>>>,
);

/// Starts the reading thread and the decoders; the batches arrive on their channels in turn.
fn decoding<'scope, T: Send + Sync + 'scope, E: From<Error> + Send + 'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    reader: &Reader,
    after: Option<Place>,
    bulk: Bulk,
    decode: &'scope (impl Fn(&Event<'_>) -> Result<T, E> + Sync),
) -> Result<Decoding<'scope, T, E>, NoThread> {
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for _ in 0..bulk.decoders.max(1) {
        let (spans, received) = bounded::<Result<Span>>(WAITING_MAX);
        let (batches, output) = bounded(WAITING_MAX);
        started(scope, move || {
            for span in received {
                let batch = span
                    .map_err(E::from)
                    .and_then(|span| Batch::decode(span, decode));
                if batches.send(batch).is_err() {
                    break;
                }
            }
        })?;
        inputs.push(spans);
        outputs.push(output);
    }
    let spans = reader.spans(after, bulk.span_bytes);
    let feeder = started(scope, move || {
        for (span, input) in spans.zip(inputs.iter().cycle()) {
            if input.send(span).is_err() {
                break;
            }
        }
    })?;
    Ok((feeder, outputs))
}

fn joined<T>(handle: ScopedJoinHandle<'_, T>) -> T {
    handle
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
