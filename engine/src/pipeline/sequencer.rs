//! Orders the batches, passes them to the steps, and writes runs.

use super::run::{sorted, write_run};
use super::{Batch, Bulk, Folded, Order, Progress, Step, Tail};
use crate::derived::{Anchor, Store, Table};
use crate::prelude::*;
use crate::reader::{Chain, Reader};
use crossbeam_channel::{Sender, bounded};
use std::sync::atomic::{AtomicBool, Ordering};

/// Threads that fold.
pub(super) enum Hands<'a, 'step, T, E> {
    /// One thread per step, with the channels that return their tables.
    Workers(Vec<Sender<Order<T>>>, Vec<Sender<Table>>),
    /// This thread, which does one step after the other.
    Own(&'a mut [Step<'step, T, E>], Vec<Table>),
}

impl<T, E> Hands<'_, '_, T, E> {
    /// Folds a batch. Returns false if a worker has ended; the handle of the worker has the error.
    fn fold(&mut self, batch: &Arc<Batch<T>>) -> Result<bool, E> {
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

/// Orders the batches, passes them to the steps, and writes runs.
pub(super) struct Sequencer<'a, 'step, T, E> {
    hands: Hands<'a, 'step, T, E>,
    store: Store,
    covered: Option<Anchor>,
    tail: Tail,
    run_bytes: u64,
    /// True if runs can be written.
    writes: bool,
    /// Flag that a failing worker sets.
    failing: &'a AtomicBool,
    /// True if a worker kept its table because it failed. The other workers then wait, and answer no order.
    ended: bool,
}

impl<'a, 'step, T, E: From<Error>> Sequencer<'a, 'step, T, E> {
    pub fn new(
        hands: Hands<'a, 'step, T, E>,
        store: Store,
        bulk: Bulk,
        failing: &'a AtomicBool,
    ) -> Sequencer<'a, 'step, T, E> {
        Sequencer {
            hands,
            covered: store.covered(),
            store,
            tail: Tail::default(),
            run_bytes: bulk.run_bytes,
            writes: true,
            failing,
            ended: false,
        }
    }

    pub fn run(
        mut self,
        reader: &Reader,
        batches: impl Iterator<Item = Result<Batch<T>, E>>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Folded, E> {
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
            if self.ended {
                break;
            }
        }
        if chain.last_seq() != total {
            let why = format!("the log ends before event {total}, which its head names");
            return Err(Error::corrupt(reader.dir(), 0, chain.last_seq() + 1, why).into());
        }
        let unwritten = match self.ended {
            true => Vec::new(),
            false => self.cut(true)?,
        };
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
            self.ended = true;
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
                Ok(None) | Err(Error::Io { .. }) => self.writes = false,
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
