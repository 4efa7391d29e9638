//! Ordered reads of a projection's rows.

use super::view::ProjectionRows;
use crate::prelude::*;
use std::ops::{Bound, RangeBounds};

/// Largest number of rows that a scan reads at once.
const PAGE_ROWS: usize = 256;
/// Number of bytes after which a page ends.
const PAGE_BYTES: usize = 1 << 20;

/// A row: key and value.
pub type Row = (Vec<u8>, Vec<u8>);

/// An iterator over the rows of a range of keys: see [`ProjectionRows::scan`].
pub struct RowScan<'a> {
    rows: &'a ProjectionRows,
    /// The rest of the range, as keys of the store.
    from: Vec<u8>,
    to: Vec<u8>,
    reverse: bool,
    page: std::vec::IntoIter<Row>,
    over: bool,
}

impl<'a> RowScan<'a> {
    pub(super) fn new(
        rows: &'a ProjectionRows,
        namespace: u8,
        range: &impl RangeBounds<Vec<u8>>,
        reverse: bool,
    ) -> RowScan<'a> {
        let stored = |key: &[u8], after: &[u8]| [&[namespace], key, after].concat();
        let from = match range.start_bound() {
            Bound::Included(key) => stored(key, &[]),
            Bound::Excluded(key) => stored(key, &[0]),
            Bound::Unbounded => vec![namespace],
        };
        let to = match range.end_bound() {
            Bound::Included(key) => stored(key, &[0]),
            Bound::Excluded(key) => stored(key, &[]),
            Bound::Unbounded => vec![namespace + 1],
        };
        RowScan {
            rows,
            from,
            to,
            reverse,
            page: Vec::new().into_iter(),
            over: false,
        }
    }

    /// Reads the next page, and shortens the range to the rows after the page.
    fn turn(&mut self) -> Result<()> {
        let (from, to, reverse) = (&self.from, &self.to, self.reverse);
        let page = self.rows.read(|rows| {
            let (mut page, mut bytes) = (Vec::new(), 0);
            for entry in rows.overlay.scan(from, to, reverse) {
                let (key, value) = entry?;
                bytes += key.len() + value.len();
                page.push((key.into_owned(), value.to_vec()));
                if page.len() >= PAGE_ROWS || bytes >= PAGE_BYTES {
                    break;
                }
            }
            Ok(page)
        })?;
        match page.last() {
            None => self.over = true,
            Some((key, _)) if reverse => self.to.clone_from(key),
            Some((key, _)) => self.from = [key, &[0][..]].concat(),
        }
        self.page = page.into_iter();
        Ok(())
    }
}

impl Iterator for RowScan<'_> {
    type Item = Result<Row>;

    /// Returns the next row. An error is the last item.
    fn next(&mut self) -> Option<Result<Row>> {
        loop {
            if let Some((mut key, value)) = self.page.next() {
                key.drain(..1);
                return Some(Ok((key, value)));
            }
            if self.over {
                return None;
            }
            if let Err(error) = self.turn() {
                self.over = true;
                return Some(Err(error));
            }
        }
    }
}

impl std::fmt::Debug for RowScan<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowScan").finish_non_exhaustive()
    }
}

/// Returns the range of the keys that begin with `prefix`.
pub(super) fn prefixed(prefix: &[u8]) -> (Bound<Vec<u8>>, Bound<Vec<u8>>) {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if let Some(next) = last.checked_add(1) {
            end.push(next);
            return (Bound::Included(prefix.to_vec()), Bound::Excluded(end));
        }
    }
    (Bound::Included(prefix.to_vec()), Bound::Unbounded)
}
