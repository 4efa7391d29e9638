//! A run: a file with the places of its events, blocks in key order, and a filter.
//!
//! The manifest holds the run's layout, and a filter or bounds of the run's keys. So the file is opened and mapped when
//! a part of it is first needed; each block is checked when it is first read. Damage is remembered, so that the store
//! can name the run to rebuild.

use super::block::{self, EntryPosition};
use super::filter::{self, Filter};
use super::page::{Damage, Mark, Pages, Pointer};
use super::places;
use super::shape::Shape;
use super::store::RunMeta;
use super::why_unused::WhyUnused;
use crate::prelude::*;
use crate::storage::Reads;
use std::sync::OnceLock;

/// A run in a manifest.
pub struct Run {
    storage: Arc<dyn Storage>,
    path: PathBuf,
    meta: RunMeta,
    shape: Shape,
    /// Pages of the file. Unset until a part of the file is needed; `None` if the file cannot be used.
    pages: OnceLock<Option<Pages>>,
    damage: OnceLock<String>,
}

/// Position of a value within a run; `None` for a tombstone.
pub type Value = Option<Range<usize>>;

/// A part of a run's file.
struct Slice {
    file: Bytes,
    range: Range<usize>,
}

impl AsRef<[u8]> for Slice {
    fn as_ref(&self) -> &[u8] {
        self.file.get(self.range.clone()).unwrap_or_default()
    }
}

impl Run {
    /// Creates the run from the manifest; reads nothing.
    pub fn new(storage: Arc<dyn Storage>, dir: &Path, (meta, shape): (RunMeta, Shape)) -> Run {
        Run {
            storage,
            path: dir.join(&meta.name),
            meta,
            shape,
            pages: OnceLock::new(),
            damage: OnceLock::new(),
        }
    }
    /// Opens the run's file unless the file is open. If the file is missing or belongs to another run, the run is
    /// damaged.
    pub fn open(&self) -> Result<()> {
        if self.pages.get().is_some() {
            return Ok(());
        }
        let pages = match self.storage.sealed(&self.path) {
            Ok(bytes) => self.pages_of(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(Damage::new("it is missing"))
            }
            Err(error) if WhyUnused::from_error(&error).is_some() => {
                Err(Damage::new("it is no file"))
            }
            Err(error) => return Err(Error::io("read", &self.path)(error)),
        };
        let pages = pages.map_err(|Damage(why)| self.damage.set(why)).ok();
        // If another thread opened the file in the meantime, that thread set the same pages.
        let _ = self.pages.set(pages);
        Ok(())
    }
    fn pages_of(&self, bytes: Bytes) -> Result<Pages, Damage> {
        let (is, named) = (bytes.len() as u64, self.meta.len);
        if is != named {
            let why = format!("it has {is} bytes instead of {named}");
            return Err(Damage::new(why));
        }
        bytes.expect(Reads::Scattered);
        Pages::new(bytes, Mark::for_run(&self.meta))
    }
    pub fn shape(&self) -> &Shape {
        &self.shape
    }
    pub fn is_open(&self) -> bool {
        self.pages.get().is_some()
    }
    pub fn meta(&self) -> &RunMeta {
        &self.meta
    }
    /// Returns true if damage was found in the run so far.
    pub fn is_damaged(&self) -> bool {
        self.damage.get().is_some()
    }
    /// Returns the number of index levels above the run's entries.
    pub fn height(&self) -> usize {
        usize::from(self.shape.height)
    }
    /// Returns the number of blocks read so far, each counted once.
    pub fn blocks_read(&self) -> u64 {
        self.used().map_or(0, Pages::blocks_read)
    }
    /// Returns the root of the run's tree; `None` if the run has no entries.
    pub fn root(&self) -> Option<Pointer> {
        let root = self.shape.root;
        (root.pages > 0).then_some(root)
    }
    /// Returns true if the run may hold the filter key with this hash. Reads at most one page.
    pub fn may_hold(&self, hash: u64) -> Result<bool> {
        match &self.shape.filter {
            Filter::Named(bits) => Ok(filter::named_may_hold(bits, hash)),
            Filter::Paged(at) => self.checked(filter::may_hold(self.pages()?, *at, hash)),
        }
    }
    /// Looks up a key. Returns `None` for an absent key, and `Some(None)` for a deleted key.
    pub fn get(&self, key: &[u8]) -> Result<Option<Value>> {
        match self.root() {
            Some(root) => self.checked(self.search(self.pages()?, root, key)),
            None => Ok(None),
        }
    }
    /// Tells the system that much of the run will be read, in order.
    pub fn read_in_order(&self) {
        if let Some(pages) = self.used() {
            pages.bytes().expect(Reads::InOrder);
        }
    }
    /// Reads the parts that a walk over its entries skips: places and filter.
    pub fn check(&self) -> Result<()> {
        let pages = self.pages()?;
        self.read_in_order();
        for seq in self.meta.first_seq..=self.meta.last.seq {
            self.place(seq)?;
        }
        if let Filter::Paged(at) = self.shape.filter {
            for page in at.page..at.end() as u32 {
                self.checked(pages.read(Pointer { page, pages: 1 }).map(|_| ()))?;
            }
        }
        Ok(())
    }
    /// Returns the place of the event `seq`, which the run must cover.
    pub fn place(&self, seq: u64) -> Result<Place> {
        let index = seq.wrapping_sub(self.meta.first_seq);
        self.checked(places::read(self.pages()?, index))
    }
    /// Reads from the content of a block.
    pub fn read<T>(&self, at: Pointer, what: impl FnOnce(&[u8]) -> Result<T, Damage>) -> Result<T> {
        self.checked(self.pages()?.read(at).and_then(what))
    }
    /// Returns the block below `parent` to which the parent's entry at `spot` points.
    pub fn child(&self, parent: Pointer, spot: EntryPosition) -> Result<Pointer> {
        self.read(parent, |content| {
            child(content, parent, block::value(content, spot)?)
        })
    }
    /// Converts a range within a block's content into a range of the file.
    pub fn in_file(&self, at: Pointer, range: Range<usize>) -> Range<usize> {
        let start = Pages::content_range(at).start;
        start + range.start..start + range.end
    }
    /// Returns bytes of the file.
    pub fn bytes(&self, range: Range<usize>) -> &[u8] {
        self.used()
            .and_then(|pages| pages.bytes().get(range))
            .unwrap_or_default()
    }
    /// Returns bytes of the file. The returned value keeps the file open.
    pub fn share(&self, range: Range<usize>) -> Bytes {
        match self.used() {
            Some(pages) => Bytes::new(Slice {
                file: pages.bytes().clone(),
                range,
            }),
            None => Bytes::new([]),
        }
    }

    /// Returns the pages, if they were loaded before and are valid.
    fn used(&self) -> Option<&Pages> {
        self.pages.get()?.as_ref()
    }
    #[inline]
    fn pages(&self) -> Result<&Pages> {
        self.open()?;
        match self.used() {
            Some(pages) => Ok(pages),
            None => self.checked(Err(Damage::new("it is unusable"))),
        }
    }
    fn search(&self, pages: &Pages, root: Pointer, key: &[u8]) -> Result<Option<Value>, Damage> {
        let mut at = root;
        for _ in 0..self.shape.height {
            let content = pages.read(at)?;
            let Some(floor) = block::floor(content, key, false)? else {
                return Ok(None);
            };
            at = child(content, at, floor.value)?;
        }
        let floor = block::floor(pages.read(at)?, key, false)?;
        let value = |range| self.in_file(at, range);
        Ok(floor
            .filter(|floor| floor.exact)
            .map(|floor| floor.value.map(value)))
    }
    /// Remembers damage and adds the run's name to the error.
    fn checked<T>(&self, result: Result<T, Damage>) -> Result<T> {
        result.map_err(|Damage(why)| Error::Derived {
            path: self.path.clone(),
            why: self.damage.get_or_init(|| why).clone(),
        })
    }
}

/// Reads the pointer in an index block's entry. Children come before their parents in the file, so every walk downwards ends.
fn child(content: &[u8], parent: Pointer, value: Option<Range<usize>>) -> Result<Pointer, Damage> {
    value
        .and_then(|range| content.get(range))
        .and_then(block::read_pointer)
        .filter(|child| child.pages > 0 && child.end() <= u64::from(parent.page))
        .ok_or_else(|| Damage::new(format!("page {} points at no block", parent.page)))
}
