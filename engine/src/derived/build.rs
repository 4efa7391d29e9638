//! Writes a run: places first, then entries in key order, then the filter.
//!
//! The memory does not grow with the run, except for the filter: the memory holds one block for each level of the tree, and the
//! write buffer. Children are written before the blocks that point at them.

use super::block::{BlockBuilder, common, write_pointer};
use super::bounds::Bounds;
use super::filter::{FilterBuilder, filter_key, hash};
use super::page::{Mark, PAGE, Pointer};
use super::places::PlacesBuilder;
use super::shape::Shape;
use crate::prelude::*;

/// Largest length of a key.
pub const KEY_BYTES_MAX: usize = 1024;
/// Largest length of a value.
pub(crate) const VALUE_BYTES_MAX: usize = 16 << 20;
const BUFFER_BYTES: usize = 1 << 20;

/// Writes one run to a new file.
pub struct RunBuilder {
    out: Output,
    mark: Mark,
    places: PlacesBuilder,
    /// Levels of the tree: level 0 holds the entries, each higher level is the index of the level below.
    tree: Vec<TreeLevel>,
    filter: FilterBuilder,
    last_filter_key: Vec<u8>,
    bounds: Bounds,
}

/// The block being filled on one level of the tree.
struct TreeLevel {
    block: BlockBuilder,
    /// A key that is greater than all keys before the block, and not greater than any key in the block.
    separator: Vec<u8>,
}

impl RunBuilder {
    /// Starts a run with the mark `mark` in `file`, which is empty and has the path `path`.
    pub fn new(
        file: Box<dyn File>,
        path: PathBuf,
        mark: Mark,
        filter: FilterBuilder,
    ) -> RunBuilder {
        RunBuilder {
            out: Output {
                file,
                path,
                buffer: Vec::new(),
                written: 0,
            },
            mark,
            places: PlacesBuilder::new(),
            tree: Vec::new(),
            filter,
            last_filter_key: Vec::new(),
            bounds: Bounds::default(),
        }
    }
    /// Adds the place of the next event. All places come before the first entry.
    pub fn place(&mut self, place: &Place) -> Result<()> {
        debug_assert!(
            self.tree.is_empty(),
            "place {} must not follow an entry",
            self.places.count()
        );
        if self.places.push(place)? {
            self.finish_places()?;
        }
        Ok(())
    }
    /// Adds an entry; keys strictly ascend. `None` is a tombstone.
    pub fn entry(&mut self, key: &[u8], value: Option<&[u8]>) -> Result<()> {
        within("a key of the derived store", key.len(), KEY_BYTES_MAX)?;
        within(
            "a value of the derived store",
            value.map_or(0, <[u8]>::len),
            VALUE_BYTES_MAX,
        )?;
        if self.tree.is_empty() {
            self.finish_places()?;
        }
        self.bounds.add(key);
        let known = filter_key(key);
        if self.tree.is_empty() || known != self.last_filter_key {
            self.filter.add(hash(known));
            self.last_filter_key.clear();
            self.last_filter_key.extend_from_slice(known);
        }
        self.push(0, key, value)
    }
    /// Writes the remaining parts, and returns the length of the file and its layout.
    ///
    /// # Panics
    /// If the number of places is not `events`.
    pub fn finish(mut self, events: u64) -> Result<(u64, Shape)> {
        assert_eq!(
            self.places.count(),
            events,
            "a run has one place for each event"
        );
        self.finish_places()?;
        let (root, height) = self.finish_tree()?;
        let first = self.out.page()?;
        assert_eq!(
            root.end(),
            u64::from(first),
            "the filter must follow the root"
        );
        let (filter_keys, filter, pages) = self.filter.finish(first, self.mark);
        self.out.append(&pages)?;
        self.out.flush()?;
        let shape = Shape {
            height,
            root,
            filter,
            filter_keys,
            bounds: self.bounds,
        };
        let len = self.out.written;
        assert!(
            shape.fits(len, events),
            "the parts of a run of {len} bytes must lie in it: {root:?}, {height} levels",
        );
        Ok((len, shape))
    }

    fn push(&mut self, level: usize, key: &[u8], value: Option<&[u8]>) -> Result<()> {
        if level == self.tree.len() {
            self.tree.push(TreeLevel {
                block: BlockBuilder::new(),
                separator: Vec::new(),
            });
        }
        let fits = |tree: &[TreeLevel]| tree.get(level).is_some_and(|at| at.block.fits(key, value));
        if !fits(&self.tree) {
            self.finish_block(level, key)?;
        }
        if let Some(at) = self.tree.get_mut(level) {
            at.block.push(key, value);
        }
        Ok(())
    }
    /// Writes the block of a level, and adds a pointer to the block to the next level up. `next` is the key that
    /// follows the block.
    fn finish_block(&mut self, level: usize, next: &[u8]) -> Result<()> {
        let Some(at) = self.tree.get_mut(level) else {
            return Ok(());
        };
        // The shortest key between two blocks of entries keeps the index small. On higher levels, `next` is already a short key,
        // and the last key of a block of pointers does not bound the entries below the block.
        let short = match level {
            0 => next.get(..=common(at.block.last(), next)).unwrap_or(next),
            _ => next,
        };
        let separator = std::mem::replace(&mut at.separator, short.to_vec());
        let pointer = self.write_block(level)?;
        self.push(level + 1, &separator, Some(&write_pointer(pointer)))
    }
    fn write_block(&mut self, level: usize) -> Result<Pointer> {
        let page = self.out.page()?;
        if let Some(at) = self.tree.get_mut(level) {
            self.out.append(at.block.finish(self.mark.at(page)))?;
            at.block.clear();
        }
        Ok(Pointer {
            page,
            pages: self.out.page()? - page,
        })
    }
    /// Writes the open block of each level, lowest first; the last block is the root.
    fn finish_tree(&mut self) -> Result<(Pointer, u8)> {
        let mut level = 0;
        while level + 1 < self.tree.len() {
            self.finish_block(level, &[])?;
            level += 1;
        }
        let root = self.write_block(level)?;
        Ok((root, level as u8))
    }
    fn finish_places(&mut self) -> Result<()> {
        let page = self.out.page()?;
        match self.places.finish_page(self.mark.at(page)) {
            Some(bytes) => self.out.append(&bytes),
            None => Ok(()),
        }
    }
}

fn within(what: &'static str, len: usize, max: usize) -> Result<()> {
    if len > max {
        return Err(Error::too_large(what, len as u64, max as u64));
    }
    Ok(())
}

/// A file that is written from start to end in large pieces.
struct Output {
    file: Box<dyn File>,
    path: PathBuf,
    buffer: Vec<u8>,
    written: u64,
}

impl Output {
    /// Returns the number of the next page.
    fn page(&self) -> Result<u32> {
        let bytes = self.written + self.buffer.len() as u64;
        debug_assert!(
            bytes.is_multiple_of(PAGE as u64),
            "a page must not start at byte {bytes}"
        );
        u32::try_from(bytes / PAGE as u64).map_err(|_| {
            Error::too_large(
                "a run of the derived store",
                bytes,
                u64::from(u32::MAX) * PAGE as u64,
            )
        })
    }
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BUFFER_BYTES {
            self.flush()?;
        }
        Ok(())
    }
    fn flush(&mut self) -> Result<()> {
        self.file
            .write_all_at(&self.buffer, self.written)
            .map_err(Error::io("write", &self.path))?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}
