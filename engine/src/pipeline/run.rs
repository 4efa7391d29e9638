//! Writes the changes of several tables as one run.

use super::{ALONE_MAX, NoThread, Tail, started};
use crate::derived::{Change, Delta, Store, Table};
use crate::prelude::*;
use std::iter::Peekable;
use std::thread;

/// Returns the changes of each table in order. Large tables are sorted on other threads, if these can be started.
pub(super) fn sorted(tables: &[Table]) -> Vec<Vec<Change<'_>>> {
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
pub fn write_run(
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
    store.write(delta)
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
