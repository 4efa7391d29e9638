//! The bulk pipeline: spans are decoded in parallel, each projection folds the ordered stream on its own worker.
//!
//! ```text
//! reader ──► decoder 0..n ──► sequencer ──► team │ messages │ tasks │ deliveries │ postings │ (inbox views)
//! ```
//! Span `i` goes through decoder `i mod n` and comes back in turn, so the order never depends on timing; all channels
//! are bounded. After a fixed amount of log the sequencer collects their tables and writes a run. Hence any number of
//! decoders gives the same bytes, and so does the caller's own thread alone, which does it all where no threads can be
//! started.

mod all;

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

/// A run is written after so much log; the tables then take about twice as much memory.
const RUN_BYTES: u64 = 32 << 20;

/// Up to so many events one thread folds, and up to so many changes it sorts, sooner than the others are started.
const ALONE_MAX: u64 = 512;

/// How a bulk fold goes about it.
#[derive(Debug, Clone, Copy)]
pub struct Bulk {
    /// Threads that decode. Has no influence on any byte.
    pub decoders: usize,
    /// About how many bytes of log a decoder takes at once.
    pub span_bytes: usize,
    /// A run is written after so many bytes of log.
    pub run_bytes: u64,
    /// Up to so many events are folded on this thread alone. Has no influence on any byte.
    pub alone_max: u64,
}

impl Bulk {
    /// With so many decoders.
    pub fn new(decoders: usize) -> Bulk {
        Bulk {
            decoders: decoders.clamp(1, 64),
            span_bytes: SPAN_BYTES,
            run_bytes: RUN_BYTES,
            alone_max: ALONE_MAX,
        }
    }
}

/// So many spans wait before a worker.
const WAITING_MAX: usize = 4;

/// How far a fold is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Events folded.
    pub events: u64,
    /// Events there are.
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
    /// Its events; foreign ones say nothing to folds.
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

/// Folds one event into everything, postings included.
pub(crate) fn fold(overlay: &mut dyn Changes, event: &Event<'_>) -> Result<()> {
    if let Some(fact) = &fact(event)? {
        let mut tx = Tx::new(overlay);
        for projection in PROJECTIONS {
            (projection.apply)(&mut tx, Recorded { event, fact })?;
        }
    }
    key::postings(event, |key| overlay.put(&key, &[]));
    Ok(())
}

/// What a bulk fold left.
pub(crate) struct Folded {
    /// The store with the runs that were written.
    pub store: Store,
    /// Changes that no run holds, with the events they come from; empty unless runs could not be written.
    pub unwritten: Vec<Table>,
    pub tail: Tail,
}

impl Folded {
    /// The state that it is, and the events that no run holds.
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

/// Sees every batch in order, on a worker of its own.
pub(crate) type Sink<'a> = Box<dyn FnMut(&Batch) -> Result<()> + Send + 'a>;

type Step<'a> = Box<dyn FnMut(&mut Table, &Batch) -> Result<()> + Send + 'a>;

enum Order {
    Fold(Arc<Batch>),
    /// Hand the table over, and go on with the one that comes back.
    Cut(Sender<Table>, Receiver<Table>),
}

/// Folds everything behind the covered part of `store`. Where a run cannot be written (somebody
/// else writes, or nobody may), its changes stay in memory.
pub(crate) fn fold_all(
    reader: &Reader,
    store: Store,
    bulk: Bulk,
    sink: Option<Sink<'_>>,
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

/// No thread is started, or the system starts no more for this user; nothing was folded yet.
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
    // What did start ends with the channels, which go where this returns early.
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
        // A decoder that waits to hand on its batch must not wait for ever.
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

/// The folds, one for each worker.
fn steps<'a>(sink: Option<Sink<'a>>) -> Vec<Step<'a>> {
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
        }
        Ok(())
    }));
    if let Some(mut sink) = sink {
        steps.push(Box::new(move |_, batch| sink(batch)));
    }
    steps
}

/// Takes orders until the channel closes, also after an error: the sequencer would wait for ever for the table of an order
/// to cut that nobody takes.
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

/// Starts the thread that reads spans and the decoders; the batches come out of their channels in turn.
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

/// Who folds.
enum Hands<'a, 'step> {
    /// A thread for each step, and the channels by which they get their tables back.
    Workers(Vec<Sender<Order>>, Vec<Sender<Table>>),
    /// This thread, one step after the other.
    Own(&'a mut [Step<'step>], Vec<Table>),
}

impl Hands<'_, '_> {
    /// Folds a batch; false where a worker is gone, whose handle tells why.
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

    /// The tables, as far as they are filled; `None` where a worker failed, whose handle tells why.
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

    /// Lets the folds go on with these.
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

/// Puts the batches in order, has them folded, and writes runs.
struct Sequencer<'a, 'step> {
    hands: Hands<'a, 'step>,
    store: Store,
    covered: Option<Anchor>,
    tail: Tail,
    run_bytes: u64,
    /// Whether runs can be written.
    writes: bool,
    /// Set by a worker that has an error to tell.
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
            // Its handle tells the error.
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

    /// Collects the tables and writes a run; the folds go on unless it is the end. Gives back what is not written.
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
                // Somebody else writes, or nobody may: what was folded stays in memory.
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

/// The changes of each table in order; those of large ones are sorted side by side as far as threads can be started.
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

/// Writes ordered changes with different keys, which come from the events of `tail`, as one run.
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

/// Several ordered lists of changes with different keys, in order.
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
