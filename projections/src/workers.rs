//! The bulk pipeline: spans are decoded in parallel, each projection folds the ordered stream on its own worker.
//!
//! ```text
//! reader ──► decoder 0..n ──► sequencer ──► team │ messages │ tasks │ deliveries │ postings │ (inbox views)
//! ```
//! Span `i` goes through decoder `i mod n` and comes back in turn, so the order never depends on timing; all channels
//! are bounded. After a fixed amount of log the sequencer collects their tables and writes a run. Hence any number of
//! decoders gives the same bytes.

use crate::artifacts::ArtifactsProjection;
use crate::bootstrap::BootstrapProjection;
use crate::deliveries::DeliveriesProjection;
use crate::error::{Error, Result};
use crate::fact::Fact;
use crate::feed::FeedProjection;
use crate::messages::MessagesProjection;
use crate::modes::ModesProjection;
use crate::responses::ResponsesProjection;
use crate::staff::StaffProjection;
use crate::tasks::TasksProjection;
use crate::team::TeamProjection;
use crate::threads::ThreadsProjection;
use crate::tx::{Projection, Recorded, Tx};
use crate::usage::UsageProjection;
use crossbeam_channel::{Receiver, Sender, bounded};
use std::iter::Peekable;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};
use teamlog_engine::codec::Frame;
use teamlog_engine::derived::{Anchor, Change, Changes, Delta, Store, Table, key};
use teamlog_engine::reader::{Chain, Located, SPAN_BYTES, Span};
use teamlog_engine::{Event, Place, Reader};

/// Every projection. Their namespaces are disjoint.
pub const PROJECTIONS: [&dyn Projection; 12] = [
    &TeamProjection,
    &MessagesProjection,
    &TasksProjection,
    &DeliveriesProjection,
    &StaffProjection,
    &ResponsesProjection,
    &ModesProjection,
    &BootstrapProjection,
    &ThreadsProjection,
    &FeedProjection,
    &UsageProjection,
    &ArtifactsProjection,
];

/// A run is written after so much log; the tables then take about twice as much memory.
const RUN_BYTES: u64 = 32 << 20;

/// How a bulk fold goes about it.
#[derive(Debug, Clone, Copy)]
pub struct Bulk {
    /// Threads that decode. Has no influence on any byte.
    pub decoders: usize,
    /// About how many bytes of log a decoder takes at once.
    pub span_bytes: usize,
    /// A run is written after so many bytes of log.
    pub run_bytes: u64,
}

impl Bulk {
    /// With so many decoders.
    pub fn new(decoders: usize) -> Bulk {
        Bulk {
            decoders: decoders.clamp(1, 64),
            span_bytes: SPAN_BYTES,
            run_bytes: RUN_BYTES,
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

/// Events that no run holds yet: their places, and what a run over them would be anchored at.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tail {
    pub places: Vec<Place>,
    pub last: Option<Anchor>,
    /// Bytes of log.
    pub bytes: u64,
}

impl Tail {
    pub fn push(&mut self, event: &Event<'_>, place: Place, crc: u32) {
        self.places.push(place);
        self.bytes += u64::from(place.len);
        self.last = Some(Anchor {
            seq: event.seq,
            id: event.id,
            place,
            crc,
        });
    }
}

/// Decoded events of one span.
pub(crate) struct Batch {
    span: Span,
    located: Vec<Located<'static>>,
    facts: Vec<Option<Fact>>,
}

impl Batch {
    fn decode(span: Span) -> Result<Batch> {
        let located: Vec<Located<'static>> = span.decode()?.into_iter().map(owned).collect();
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

fn owned(located: Located<'_>) -> Located<'static> {
    let Located { frame, place } = located;
    let frame = Frame {
        event: frame.event.into_owned(),
        group: frame.group,
        len: frame.len,
        crc: frame.crc,
    };
    Located { frame, place }
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
            projection.apply(&mut tx, Recorded { event, fact })?;
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
    let covered = store.covered();
    let failing = &AtomicBool::new(false);
    thread::scope(|scope| {
        let (spans, batches) = decoding(scope, reader, covered.map(|anchor| anchor.place), bulk);
        let mut workers = Vec::new();
        for step in steps(sink) {
            let (orders, received) = bounded(WAITING_MAX);
            let table = Table::new(store.clone());
            workers.push((
                orders,
                scope.spawn(move || work(&received, table, step, failing)),
            ));
        }
        let (orders, handles): (Vec<_>, Vec<_>) = workers.into_iter().unzip();
        let sequencer = Sequencer {
            orders,
            store,
            covered,
            tail: Tail::default(),
            run_bytes: bulk.run_bytes,
            writes: true,
            failing,
        };
        let outcome = sequencer.run(reader, &batches, progress);
        // A decoder that waits to hand on its batch must not wait for ever.
        drop(batches);
        let failed = handles
            .into_iter()
            .filter_map(|handle| joined(handle).err())
            .next();
        joined(spans)?;
        match failed {
            Some(error) => Err(error),
            None => outcome,
        }
    })
}

/// The folds, one for each worker.
fn steps<'a>(sink: Option<Sink<'a>>) -> Vec<Step<'a>> {
    let mut steps: Vec<Step<'a>> = Vec::new();
    for projection in PROJECTIONS {
        steps.push(Box::new(move |table, batch| {
            let mut tx = Tx::new(table);
            for (event, fact) in batch.events() {
                if let Some(fact) = fact {
                    projection.apply(&mut tx, Recorded { event, fact })?;
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

/// Follows orders to their end, also after an error: an order to cut that nobody took would keep the sequencer waiting
/// for its table for ever, as a channel keeps what is in it for as long as somebody may send more.
fn work(
    orders: &Receiver<Order>,
    mut table: Table,
    mut step: Step<'_>,
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
) -> Decoding<'scope> {
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for _ in 0..bulk.decoders.max(1) {
        let (spans, received) = bounded::<teamlog_engine::Result<Span>>(WAITING_MAX);
        let (batches, output) = bounded(WAITING_MAX);
        scope.spawn(move || {
            for span in received {
                let batch = span.map_err(Error::from).and_then(Batch::decode);
                if batches.send(batch).is_err() {
                    break;
                }
            }
        });
        inputs.push(spans);
        outputs.push(output);
    }
    let spans = reader.spans(after, bulk.span_bytes);
    let feeder = scope.spawn(move || {
        for (span, input) in spans.zip(inputs.iter().cycle()) {
            if input.send(span).is_err() {
                break;
            }
        }
        Ok(())
    });
    (feeder, outputs)
}

fn joined<T>(handle: ScopedJoinHandle<'_, Result<T>>) -> Result<T> {
    handle
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Puts the batches in order, shows them to all workers, and writes runs.
struct Sequencer<'a> {
    orders: Vec<Sender<Order>>,
    store: Store,
    covered: Option<Anchor>,
    tail: Tail,
    run_bytes: u64,
    /// Whether runs can be written.
    writes: bool,
    /// Set by a worker that has an error to tell.
    failing: &'a AtomicBool,
}

impl Sequencer<'_> {
    fn run(
        mut self,
        reader: &Reader,
        batches: &[Receiver<Result<Batch>>],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Folded> {
        let total = reader.head().last_seq;
        let mut chain = Chain::behind(self.covered.map(|anchor| (anchor.seq, anchor.id)));
        'log: for output in batches.iter().cycle() {
            let Ok(batch) = output.recv() else {
                break;
            };
            let batch = Arc::new(batch?);
            chain.link(&batch.span, &batch.located)?;
            for located in &batch.located {
                self.tail
                    .push(&located.frame.event, located.place, located.frame.crc);
            }
            // Its handle tells the error.
            if self.failing.load(Ordering::Relaxed) {
                break;
            }
            for orders in &self.orders {
                if orders.send(Order::Fold(Arc::clone(&batch))).is_err() {
                    break 'log;
                }
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

    /// Collects the tables and writes a run; the workers go on unless it is the end. Gives back what is not written.
    fn cut(&mut self, end: bool) -> Result<Vec<Table>> {
        let mut backs = Vec::new();
        let mut tables = Vec::new();
        let mut outs = Vec::new();
        for orders in &self.orders {
            let ((out, table), (back, given)) = (bounded(1), bounded(1));
            let _ = orders.send(Order::Cut(out, given));
            outs.push(table);
            backs.push(back);
        }
        for out in outs {
            match out.recv() {
                Ok(table) => tables.push(table),
                // The worker failed; its handle tells.
                Err(_) => return Ok(Vec::new()),
            }
        }
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
        for (back, table) in backs.into_iter().zip(tables) {
            let _ = back.send(table);
        }
        Ok(Vec::new())
    }
}

/// The changes of each table in order, sorted side by side.
fn sorted(tables: &[Table]) -> Vec<Vec<Change<'_>>> {
    thread::scope(|scope| {
        let sorting: Vec<_> = tables
            .iter()
            .map(|table| scope.spawn(|| table.changes()))
            .collect();
        sorting
            .into_iter()
            .map(|handle| {
                handle
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
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
