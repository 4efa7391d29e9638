//! Walks over several runs at once: in key order, with the newest entry of each key.

use super::cursor::Cursor;
use super::filter;
use super::run::{Run, Value};
use crate::prelude::*;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// Steps through the newest entries of `from..to`, tombstones included.
pub struct Walk {
    /// The cursors; the cursor with the next key comes first.
    heap: BinaryHeap<Source>,
    reverse: bool,
    /// The bound at the end of the walk: exclusive in a forward walk, inclusive in a reverse walk; `None` without a bound.
    end: Option<Vec<u8>>,
    runs: Vec<Arc<Run>>,
    key: Vec<u8>,
    value: Value,
    /// The age of the run of `key` and `value`; `None` before the first step.
    run: Option<usize>,
}

struct Source {
    cursor: Cursor,
    /// Rank of the run by age; greater for newer runs.
    age: usize,
    reverse: bool,
}

impl Ord for Source {
    fn cmp(&self, other: &Self) -> Ordering {
        let keys = self.cursor.key().cmp(&other.cursor.key());
        // The order is reversed, because a heap returns its greatest item first.
        let keys = if self.reverse { keys } else { keys.reverse() };
        keys.then(self.age.cmp(&other.age))
    }
}
impl PartialOrd for Source {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Source {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Source {}

impl Walk {
    /// Walks over `runs`, which are oldest first. Skips runs that hold no key of the range, or no key of the range's series.
    pub fn new(runs: &[Arc<Run>], from: &[u8], to: &[u8], reverse: bool) -> Result<Walk> {
        let (start, end) = if reverse { (to, from) } else { (from, to) };
        let series = filter::series_of(from, to).map(filter::hash);
        let may_hold = |run: &Run| match series {
            _ if !run.shape().bounds.may_hold_some(from, to) => Ok(false),
            Some(series) => run.may_hold(series),
            None => Ok(true),
        };
        Walk::over(runs, start, Some(end), may_hold, reverse)
    }
    /// Walks over every entry of `runs`, oldest first.
    pub fn everything(runs: &[Arc<Run>]) -> Result<Walk> {
        Walk::over(runs, &[], None, |_| Ok(true), false)
    }
    fn over(
        runs: &[Arc<Run>],
        start: &[u8],
        end: Option<&[u8]>,
        may_hold: impl Fn(&Run) -> Result<bool>,
        reverse: bool,
    ) -> Result<Walk> {
        let mut heap = BinaryHeap::with_capacity(runs.len());
        for (age, run) in runs.iter().enumerate() {
            if !may_hold(run)? {
                continue;
            }
            let cursor = Cursor::seek(Arc::clone(run), start, reverse)?;
            if cursor.key().is_some() {
                heap.push(Source {
                    cursor,
                    age,
                    reverse,
                });
            }
        }
        Ok(Walk {
            heap,
            reverse,
            end: end.map(<[u8]>::to_vec),
            runs: runs.to_vec(),
            key: Vec::new(),
            value: None,
            run: None,
        })
    }
    /// Moves to the next key; false at the end.
    pub fn step(&mut self) -> Result<bool> {
        while self.run.is_some()
            && let Some(mut top) = self.heap.peek_mut()
            && top.cursor.key() == Some(&self.key)
        {
            top.cursor.advance()?;
            if top.cursor.key().is_none() {
                PeekMut::pop(top);
            }
        }
        let Some(Source { cursor, age, .. }) = self.heap.peek() else {
            return Ok(false);
        };
        self.key.clear();
        self.key.extend_from_slice(cursor.key().unwrap_or_default());
        let inside = self.end.as_ref().is_none_or(|end| match self.reverse {
            false => self.key < *end,
            true => self.key >= *end,
        });
        self.value = cursor.value();
        self.run = Some(*age);
        Ok(inside)
    }
    pub fn key(&self) -> &[u8] {
        &self.key
    }
    /// Returns the current value, `None` for a tombstone.
    pub fn value(&self) -> Option<&[u8]> {
        let run = self.runs.get(self.run?)?;
        Some(run.bytes(self.value.clone()?))
    }
    fn share(&self) -> Option<Bytes> {
        let run = self.runs.get(self.run?)?;
        Some(run.share(self.value.clone()?))
    }
}

/// An ordered walk over the live entries of a range.
pub struct Scan {
    state: ScanState,
}

enum ScanState {
    /// The scan has not read anything yet.
    Idle {
        runs: Arc<[Arc<Run>]>,
        from: Vec<u8>,
        to: Vec<u8>,
        reverse: bool,
    },
    Walking(Walk),
    Over,
}

impl Scan {
    pub(super) fn new(runs: Arc<[Arc<Run>]>, from: &[u8], to: &[u8], reverse: bool) -> Scan {
        let state = match from < to {
            true => ScanState::Idle {
                runs,
                from: from.to_vec(),
                to: to.to_vec(),
                reverse,
            },
            false => ScanState::Over,
        };
        Scan { state }
    }
    fn advance(&mut self) -> Result<Option<(Vec<u8>, Bytes)>> {
        if let ScanState::Idle {
            runs,
            from,
            to,
            reverse,
        } = &self.state
        {
            self.state = ScanState::Walking(Walk::new(runs, from, to, *reverse)?);
        }
        let ScanState::Walking(walk) = &mut self.state else {
            return Ok(None);
        };
        while walk.step()? {
            if let Some(value) = walk.share() {
                return Ok(Some((walk.key().to_vec(), value)));
            }
        }
        Ok(None)
    }
}

impl Iterator for Scan {
    type Item = Result<(Vec<u8>, Bytes)>;
    /// Returns the next entry. An error is the last item.
    fn next(&mut self) -> Option<Self::Item> {
        let next = self.advance().transpose();
        if !matches!(next, Some(Ok(_))) {
            self.state = ScanState::Over;
        }
        next
    }
}
