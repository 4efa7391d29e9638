//! The bulk pipeline: decodes spans of the log in parallel, and folds the ordered stream with one worker per
//! projection.
//!
//! ```text
//! reader ──► decoder 0..n ──► sequencer ──► team │ messages │ tasks │ deliveries │ postings │ (inbox views)
//! ```
//!
//! Decoder `i mod n` decodes span `i`, and the sequencer receives the spans in turn, so the order never depends on
//! timing; all channels are bounded. After a fixed amount of log the sequencer collects the workers' tables and writes
//! a run. So the result is the same for any number of decoders, and also for the caller's own thread alone, which does
//! all the work if no threads can be started.

mod all;

use crate::event_index;
use crate::prelude::*;
use crate::state::Tail;
pub(crate) use all::{FOLD_VERSION, PROJECTIONS};
use crossbeam_channel::{Receiver, Sender, bounded};
use std::iter::Peekable;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};
use teamlog_engine::internals::codec::Frame;
use teamlog_engine::internals::derived::{Anchor, Change, Changes, Delta, Overlay, Store, Table};
use teamlog_engine::internals::reader::{Chain, LocatedFrame, SPAN_BYTES, Span};

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

/// Decoded events of one span.
pub(crate) struct Batch {
    span: Span,
    located: Vec<LocatedFrame<'static>>,
    facts: Vec<Option<Fact>>,
}

impl Batch {
    fn decode(span: Span) -> Result<Batch> {
        let located: Vec<LocatedFrame<'static>> = span.decode()?.into_iter().map(owned).collect();
        let facts = located
            .iter()
            .map(|located| fact(&located.frame.event))
            .collect::<Result<_>>()?;
        Ok(Batch {
            span,
            located,
            facts,
        })
    }
    /// Returns the events with their facts; a foreign event has no fact.
    pub fn events(&self) -> impl Iterator<Item = (&Event<'static>, Option<&Fact>)> {
        self.located
            .iter()
            .map(|located| &located.frame.event)
            .zip(self.facts.iter().map(Option::as_ref))
    }
}

fn owned(located: LocatedFrame<'_>) -> LocatedFrame<'static> {
    let LocatedFrame { frame, place } = located;
    let frame = Frame {
        event: frame.event.into_owned(),
        group: frame.group,
        len: frame.len,
        crc: frame.crc,
    };
    LocatedFrame { frame, place }
}

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

/// Result of a bulk fold.
pub(crate) struct Folded {
    /// Store with the written runs.
    pub store: Store,
    /// Changes that no run holds yet, with their events. Empty unless writing a run failed.
    pub unwritten: Vec<Table>,
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

/// Receives every batch in order, on a worker of its own.
pub(crate) type BatchReceiver<'a> = Box<dyn FnMut(&Batch) -> Result<()> + Send + 'a>;

type Step<'a> = Box<dyn FnMut(&mut Table, &Batch) -> Result<()> + Send + 'a>;

enum Order {
    Fold(Arc<Batch>),
    /// Hand over the table, and continue with the next received table.
    Cut(Sender<Table>, Receiver<Table>),
}

/// Folds all events after the covered part of `store`. If a run cannot be written, because another process writes or the store is
/// read-only, the changes of the run stay in memory.
pub(crate) fn fold_all(
    reader: &Reader,
    store: Store,
    bulk: Bulk,
    sink: Option<BatchReceiver<'_>>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Folded> {
    let mut steps = steps(sink);
    let covered = store.covered().map_or(0, |anchor| anchor.seq);
    let folded = match reader.head().last_seq.saturating_sub(covered) > bulk.alone_max {
        true => side_by_side(reader, &store, bulk, &mut steps, progress),
        false => Err(NoThread),
    };
    match folded {
        Ok(folded) => folded,
        Err(NoThread) => alone(reader, store, bulk, &mut steps, progress),
    }
}

/// Error: no thread could be started; nothing was folded yet.
struct NoThread;

fn side_by_side(
    reader: &Reader,
    store: &Store,
    bulk: Bulk,
    steps: &mut [Step<'_>],
    progress: &mut dyn FnMut(Progress),
) -> Result<Result<Folded>, NoThread> {
    let failing = &AtomicBool::new(false);
    let covered = store.covered().map(|anchor| anchor.place);
    // On an early return the channels close, and the started threads end.
    thread::scope(|scope| {
        let (spans, batches) = decoding(scope, reader, covered, bulk)?;
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
        if let Err(error) = joined(spans) {
            return Ok(Err(error));
        }
        Ok(match failed {
            Some(error) => Err(error),
            None => outcome,
        })
    })
}

fn alone(
    reader: &Reader,
    store: Store,
    bulk: Bulk,
    steps: &mut [Step<'_>],
    progress: &mut dyn FnMut(Progress),
) -> Result<Folded> {
    let tables = steps.iter().map(|_| Table::new(store.clone())).collect();
    let covered = store.covered().map(|anchor| anchor.place);
    let spans = reader.spans(covered, bulk.span_bytes);
    let batches = spans.map(|span| span.map_err(Error::from).and_then(Batch::decode));
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

/// Returns the folds, one per worker.
fn steps<'a>(sink: Option<BatchReceiver<'a>>) -> Vec<Step<'a>> {
    let mut steps: Vec<Step<'a>> = Vec::new();
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

/// Processes orders until the channel closes, also after an error; otherwise the sequencer would wait forever for a
/// table.
fn work(
    orders: &Receiver<Order>,
    mut table: Table,
    step: &mut Step<'_>,
    failing: &AtomicBool,
) -> Result<()> {
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

type Decoding<'scope> = (
    ScopedJoinHandle<'scope, Result<()>>,
    Vec<Receiver<Result<Batch>>>,
);

/// Starts the reading thread and the decoders; the batches arrive on their channels in turn.
fn decoding<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    reader: &Reader,
    after: Option<Place>,
    bulk: Bulk,
) -> Result<Decoding<'scope>, NoThread> {
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for _ in 0..bulk.decoders.max(1) {
        let (spans, received) = bounded::<teamlog_engine::Result<Span>>(WAITING_MAX);
        let (batches, output) = bounded(WAITING_MAX);
        started(scope, move || {
            for span in received {
                let batch = span.map_err(Error::from).and_then(Batch::decode);
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
        Ok(())
    })?;
    Ok((feeder, outputs))
}

fn joined<T>(handle: ScopedJoinHandle<'_, Result<T>>) -> Result<T> {
    handle
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Threads that fold.
enum Hands<'a, 'step> {
    /// One thread per step, with the channels that return their tables.
    Workers(Vec<Sender<Order>>, Vec<Sender<Table>>),
    /// This thread, which does one step after the other.
    Own(&'a mut [Step<'step>], Vec<Table>),
}

impl Hands<'_, '_> {
    /// Folds a batch. Returns false if a worker has ended; the handle of the worker has the error.
    fn fold(&mut self, batch: &Arc<Batch>) -> Result<bool> {
        match self {
            Hands::Workers(orders, _) => Ok(orders
                .iter()
                .all(|orders| orders.send(Order::Fold(Arc::clone(batch))).is_ok())),
            Hands::Own(steps, tables) => {
                for (step, table) in steps.iter_mut().zip(tables) {
                    step(table, batch)?;
                }
                Ok(true)
            }
        }
    }

    /// Returns the tables as filled so far; `None` if a worker failed. The handle of the worker has the error.
    fn tables(&mut self) -> Option<Vec<Table>> {
        match self {
            Hands::Workers(orders, backs) => {
                let mut outs = Vec::new();
                for orders in orders {
                    let ((out, table), (back, given)) = (bounded(1), bounded(1));
                    let _ = orders.send(Order::Cut(out, given));
                    outs.push(table);
                    backs.push(back);
                }
                outs.into_iter().map(|out| out.recv().ok()).collect()
            }
            Hands::Own(_, tables) => Some(std::mem::take(tables)),
        }
    }

    /// Gives the folds new tables to continue with.
    fn go_on(&mut self, given: Vec<Table>) {
        match self {
            Hands::Workers(_, backs) => {
                for (back, table) in backs.drain(..).zip(given) {
                    let _ = back.send(table);
                }
            }
            Hands::Own(_, tables) => *tables = given,
        }
    }
}

/// Orders the batches, passes them to the folds, and writes runs.
struct Sequencer<'a, 'step> {
    hands: Hands<'a, 'step>,
    store: Store,
    covered: Option<Anchor>,
    tail: Tail,
    run_bytes: u64,
    /// True if runs can be written.
    writes: bool,
    /// Flag that a failing worker sets.
    failing: &'a AtomicBool,
}

impl<'a, 'step> Sequencer<'a, 'step> {
    fn new(
        hands: Hands<'a, 'step>,
        store: Store,
        bulk: Bulk,
        failing: &'a AtomicBool,
    ) -> Sequencer<'a, 'step> {
        Sequencer {
            hands,
            covered: store.covered(),
            store,
            tail: Tail::default(),
            run_bytes: bulk.run_bytes,
            writes: true,
            failing,
        }
    }

    fn run(
        mut self,
        reader: &Reader,
        batches: impl Iterator<Item = Result<Batch>>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Folded> {
        let total = reader.head().last_seq;
        let mut chain = Chain::behind(self.covered.map(|anchor| (anchor.seq, anchor.id)));
        for batch in batches {
            let batch = Arc::new(batch?);
            chain.link(&batch.span, &batch.located)?;
            for located in &batch.located {
                self.tail
                    .push(&located.frame.event, located.place, located.frame.crc);
            }
            // The worker's handle has the error.
            if self.failing.load(Ordering::Relaxed) || !self.hands.fold(&batch)? {
                break;
            }
            progress(Progress {
                events: chain.last_seq(),
                total,
            });
            if self.writes && self.tail.bytes >= self.run_bytes {
                self.cut(false)?;
            }
        }
        if chain.last_seq() != total {
            return Err(Error::Engine(teamlog_engine::Error::Corrupt {
                path: reader.dir().to_path_buf(),
                offset: 0,
                seq: Some(chain.last_seq() + 1),
                why: format!("the log ends before event {total}, which its head names"),
            }));
        }
        let unwritten = self.cut(true)?;
        Ok(Folded {
            store: self.store,
            unwritten,
            tail: self.tail,
        })
    }

    /// Collects the tables and writes a run; the folds continue unless `end` is true. Returns the tables that were not
    /// written.
    fn cut(&mut self, end: bool) -> Result<Vec<Table>> {
        let Some(mut tables) = self.hands.tables() else {
            return Ok(Vec::new());
        };
        if self.writes && !self.tail.places.is_empty() {
            match write_run(&self.store, &self.tail, sorted(&tables)) {
                Ok(Some(store)) => {
                    self.store = store;
                    self.tail = Tail::default();
                    for table in &mut tables {
                        table.flushed(self.store.clone());
                    }
                }
                // Another process writes, or the store is read-only. The folded changes stay in memory.
                Ok(None) | Err(Error::Engine(teamlog_engine::Error::Io { .. })) => {
                    self.writes = false
                }
                Err(error) => return Err(error),
            }
        }
        if end {
            tables.retain(|table| !table.is_empty());
            return Ok(tables);
        }
        self.hands.go_on(tables);
        Ok(Vec::new())
    }
}

/// Returns the changes of each table in order. Large tables are sorted on other threads, if these can be started.
fn sorted(tables: &[Table]) -> Vec<Vec<Change<'_>>> {
    thread::scope(|scope| {
        let sorting: Vec<_> = tables
            .iter()
            .map(|table| match table.len() as u64 > ALONE_MAX {
                true => (table, started(scope, || table.changes())),
                false => (table, Err(NoThread)),
            })
            .collect();
        sorting
            .into_iter()
            .map(|(table, sorting)| match sorting {
                Ok(handle) => handle
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                Err(NoThread) => table.changes(),
            })
            .collect()
    })
}

/// Writes ordered changes with distinct keys as one run, anchored at the events of `tail`.
pub(crate) fn write_run(
    store: &Store,
    tail: &Tail,
    changes: Vec<Vec<Change<'_>>>,
) -> Result<Option<Store>> {
    let Some(last) = tail.last else {
        return Ok(None);
    };
    let heads = changes
        .into_iter()
        .map(|changes| changes.into_iter().peekable());
    let delta = Delta {
        first_seq: last.seq + 1 - tail.places.len() as u64,
        last,
        places: &tail.places,
        entries: Box::new(Merged {
            heads: heads.collect(),
        }),
    };
    Ok(store.write(delta)?)
}

/// Iterator over several ordered lists of changes with distinct keys, in order.
struct Merged<'a> {
    heads: Vec<Peekable<std::vec::IntoIter<Change<'a>>>>,
}

impl<'a> Iterator for Merged<'a> {
    type Item = Change<'a>;
    fn next(&mut self) -> Option<Change<'a>> {
        let mut first: Option<(usize, &[u8])> = None;
        for (at, head) in self.heads.iter_mut().enumerate() {
            if let Some((key, _)) = head.peek()
                && first.is_none_or(|(_, least)| *key < least)
            {
                first = Some((at, key));
            }
        }
        let (at, _) = first?;
        self.heads.get_mut(at)?.next()
    }
}

#[cfg(test)]
mod failing_test;
