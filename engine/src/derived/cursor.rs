//! A cursor over the entries of one run, in either direction.

use super::block::{self, EntryPosition, Group};
use super::page::Pointer;
use super::run::{Run, Value};
use crate::prelude::*;

/// A walk counts as sequential after it has left this number of blocks. Then the following blocks are read ahead.
const BLOCKS_APART: u32 = 4;

/// A position at an entry of a run, or after the last entry.
pub struct Cursor {
    run: Arc<Run>,
    reverse: bool,
    /// Blocks from the root to a block of entries, each with the position in the block. The path is empty at the end.
    path: Vec<(Pointer, EntryPosition)>,
    /// The group of entries that was decoded from the last block in the path.
    group: Group,
    /// Number of blocks of entries that the cursor has left.
    blocks: u32,
}

impl Cursor {
    /// Moves to the first entry that is not below `bound` or, in reverse, to the last entry below `bound`.
    pub fn seek(run: Arc<Run>, bound: &[u8], reverse: bool) -> Result<Cursor> {
        let root = run.root();
        let height = run.height();
        let mut cursor = Cursor {
            reverse,
            path: Vec::with_capacity(height + 1),
            group: Group::default(),
            blocks: 0,
            run,
        };
        let Some(mut at) = root else {
            return Ok(cursor);
        };
        for _ in 0..height {
            // Finds the child that may hold the bound. Forwards, the child may begin with a key equal to the bound; in reverse,
            // it must begin with a smaller key.
            let floor = cursor
                .run
                .read(at, |block| block::floor(block, bound, reverse))?;
            let spot = floor.map(|floor| floor.spot).unwrap_or_default();
            cursor.path.push((at, spot));
            at = cursor.run.child(at, spot)?;
        }
        let below = cursor
            .run
            .read(at, |block| block::floor(block, bound, true))?;
        let spot = below.as_ref().map(|floor| floor.spot).unwrap_or_default();
        cursor.path.push((at, spot));
        cursor.load()?;
        // `below` is the last entry below the bound. Forwards, start at the next entry; in reverse, start at `below`.
        if below.is_some() != reverse {
            cursor.advance()?;
        }
        Ok(cursor)
    }
    /// Returns the current key; `None` at the end.
    pub fn key(&self) -> Option<&[u8]> {
        let (_, spot) = self.path.last()?;
        Some(self.group.key(spot.index))
    }
    pub fn value(&self) -> Value {
        let (at, spot) = self.path.last()?;
        let range = self.group.value(spot.index)?;
        Some(self.run.in_file(*at, range))
    }
    pub fn advance(&mut self) -> Result<()> {
        if self.step_in_group() {
            return Ok(());
        }
        while let Some((at, spot)) = self.path.pop() {
            let beside = |block: &[u8]| block::beside(block, spot, self.reverse);
            if let Some(spot) = self.run.read(at, beside)? {
                self.path.push((at, spot));
                self.blocks += 1;
                if self.blocks == BLOCKS_APART {
                    self.run.read_in_order();
                }
                return self.descend();
            }
        }
        Ok(())
    }

    fn step_in_group(&mut self) -> bool {
        let Some((_, spot)) = self.path.last_mut() else {
            return false;
        };
        let next = match self.reverse {
            false => Some(spot.index + 1).filter(|next| *next < self.group.len()),
            true => spot.index.checked_sub(1),
        };
        spot.index = next.unwrap_or(spot.index);
        next.is_some()
    }
    /// Descends from the last block of the path to the first (or last) entry below that block.
    fn descend(&mut self) -> Result<()> {
        while self.path.len() <= self.run.height()
            && let Some((at, spot)) = self.path.last()
        {
            let child = self.run.child(*at, *spot)?;
            let edge = self
                .run
                .read(child, |block| block::edge(block, self.reverse))?;
            self.path.push((child, edge));
        }
        self.load()
    }
    fn load(&mut self) -> Result<()> {
        match self.path.last() {
            Some((at, spot)) => self
                .run
                .read(*at, |block| self.group.decode(block, spot.group)),
            None => Ok(()),
        }
    }
}
