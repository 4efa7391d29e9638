//! A walk over the entries of one run, in either direction.

use super::block::Block;
use super::page::Pointer;
use super::run::{Run, Value};
use crate::error::Result;
use std::sync::Arc;

/// Stands on an entry of a run, or behind its last one.
pub struct Cursor {
    run: Arc<Run>,
    reverse: bool,
    /// From the root to a block of entries; empty at the end.
    path: Vec<Level>,
    /// A block's memory for the next one.
    spare: Block,
}

struct Level {
    at: Pointer,
    block: Block,
    index: usize,
}

impl Cursor {
    /// Stands on the first entry that is not below `bound`, or, in reverse, on the last one below it.
    ///
    /// # Errors
    /// `Derived`.
    pub fn seek(run: Arc<Run>, bound: &[u8], reverse: bool) -> Result<Cursor> {
        let root = run.root()?;
        let mut cursor = Cursor {
            reverse,
            path: Vec::with_capacity(run.height() + 1),
            spare: Block::default(),
            run,
        };
        let Some(mut at) = root else {
            return Ok(cursor);
        };
        for _ in 0..cursor.run.height() {
            cursor.enter(at)?;
            let Some(level) = cursor.path.last_mut() else {
                break;
            };
            // The child that may hold the bound: forwards the bound itself counts, in reverse only what is below.
            let below = level.block.count_below(bound);
            let exact = !reverse && level.block.key(below) == bound && below < level.block.len();
            level.index = (below + usize::from(exact)).saturating_sub(1);
            at = cursor.child()?;
        }
        cursor.enter(at)?;
        if let Some(level) = cursor.path.last_mut() {
            let below = level.block.count_below(bound);
            let inside = match reverse {
                false => (below < level.block.len()).then_some(below),
                true => below.checked_sub(1),
            };
            match inside {
                Some(index) => level.index = index,
                None => {
                    level.index = if reverse { 0 } else { below };
                    cursor.advance()?;
                }
            }
        }
        Ok(cursor)
    }
    /// The key it stands on; `None` at the end.
    pub fn key(&self) -> Option<&[u8]> {
        self.path.last().map(|level| level.block.key(level.index))
    }
    /// The value it stands on.
    pub fn value(&self) -> Value {
        let level = self.path.last()?;
        let range = level.block.value(level.index)?;
        Some(self.run.in_file(level.at, range))
    }
    /// The run it walks over.
    pub fn run(&self) -> &Arc<Run> {
        &self.run
    }
    /// Goes to the next entry.
    ///
    /// # Errors
    /// `Derived`.
    pub fn advance(&mut self) -> Result<()> {
        while let Some(level) = self.path.last_mut() {
            let next = match self.reverse {
                false => Some(level.index + 1).filter(|next| *next < level.block.len()),
                true => level.index.checked_sub(1),
            };
            if let Some(next) = next {
                level.index = next;
                return self.descend();
            }
            if let Some(level) = self.path.pop() {
                self.spare = level.block;
            }
        }
        Ok(())
    }

    /// From the entry of an index block down to the first (or last) entry below it.
    fn descend(&mut self) -> Result<()> {
        while self.path.len() <= self.run.height() {
            let at = self.child()?;
            self.enter(at)?;
        }
        Ok(())
    }
    fn child(&self) -> Result<Pointer> {
        match self.path.last() {
            Some(level) => self.run.child(level.at, level.block.value(level.index)),
            None => Ok(Pointer { page: 0, pages: 0 }),
        }
    }
    /// Stands at the first (or last) entry of a block.
    fn enter(&mut self, at: Pointer) -> Result<()> {
        let mut block = std::mem::take(&mut self.spare);
        self.run.block(at, &mut block)?;
        let index = match self.reverse {
            false => 0,
            true => block.len().saturating_sub(1),
        };
        self.path.push(Level { at, block, index });
        Ok(())
    }
}
