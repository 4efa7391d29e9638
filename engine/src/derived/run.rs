//! One run: a file of blocks in key order, the places of its events, a filter, and a footer.
//!
//! A run is mapped when the store opens, its footer checked; everything else is checked when it is first read.
//! What turns out to be damaged is remembered, so that the store can name the run to rebuild.

use super::block::{self, Floor, Group, Spot};
use super::filter;
use super::footer::Footer;
use super::obstacle::Obstacle;
use super::page::{Damage, Pages, Pointer};
use super::places;
use super::store::RunMeta;
use crate::error::{Error, Result};
use crate::place::Place;
use crate::storage::{Bytes, Storage};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// An open run.
pub struct Run {
    path: PathBuf,
    meta: RunMeta,
    /// Nothing where the file could not be used from the start.
    body: Option<Body>,
    damage: OnceLock<String>,
}

struct Body {
    pages: Pages,
    footer: Footer,
}

/// A value within a run: a tombstone has none.
pub type Value = Option<Range<usize>>;

/// Some bytes of a run's file.
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
    /// Opens the run that a manifest names. A file that is missing or is not that run gives a damaged one.
    ///
    /// # Errors
    /// I/O errors other than "not found".
    pub fn open(storage: &dyn Storage, dir: &Path, meta: RunMeta) -> Result<Run> {
        let path = dir.join(&meta.name);
        let body = match storage.sealed(&path) {
            Ok(bytes) => Body::open(bytes, &meta),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(Damage::new("it is missing"))
            }
            Err(error) if Obstacle::of(&error).is_some() => Err(Damage::new("it is no file")),
            Err(error) => return Err(Error::io("read", path)(error)),
        };
        let damage = OnceLock::new();
        let body = body.map_err(|Damage(why)| damage.set(why)).ok();
        Ok(Run {
            path,
            meta,
            body,
            damage,
        })
    }
    /// What the manifest says of it.
    pub fn meta(&self) -> &RunMeta {
        &self.meta
    }
    /// Whether damage was found in it so far.
    pub fn is_damaged(&self) -> bool {
        self.damage.get().is_some()
    }
    /// How many keys its filter was built of.
    pub fn filter_keys(&self) -> u64 {
        self.body.as_ref().map_or(0, |body| body.footer.filter_keys)
    }
    /// How many levels of index blocks stand above its entries.
    pub fn height(&self) -> usize {
        self.body
            .as_ref()
            .map_or(0, |body| usize::from(body.footer.height))
    }
    /// How many blocks have been read so far, each counted once.
    pub fn blocks_read(&self) -> u64 {
        self.body
            .as_ref()
            .map_or(0, |body| body.pages.blocks_read())
    }
    /// The root of its tree; `None` if it has no entries.
    pub fn root(&self) -> Result<Option<Pointer>> {
        let root = self.body()?.footer.root;
        Ok((root.pages > 0).then_some(root))
    }
    /// Whether the run may hold the filter key with that hash.
    pub fn may_hold(&self, hash: u64) -> Result<bool> {
        let body = self.body()?;
        self.checked(filter::may_hold(&body.pages, body.footer.filter, hash))
    }
    /// What the run says of a key: nothing, deleted, or a value.
    pub fn get(&self, key: &[u8]) -> Result<Option<Value>> {
        let body = self.body()?;
        self.checked(body.get(key))
    }
    /// Reads what a walk over its entries does not: places and filter.
    pub fn check(&self) -> Result<()> {
        let body = self.body()?;
        for seq in body.footer.first_seq..=body.footer.last.seq {
            self.place(seq)?;
        }
        let filter = body.footer.filter;
        for page in filter.page..filter.end() as u32 {
            self.checked(body.pages.read(Pointer { page, pages: 1 }).map(|_| ()))?;
        }
        Ok(())
    }
    /// The place of the event with that seq, which the run covers.
    pub fn place(&self, seq: u64) -> Result<Place> {
        let body = self.body()?;
        let index = seq.wrapping_sub(body.footer.first_seq);
        self.checked(places::read(&body.pages, index))
    }
    /// The last entry of a block whose key is at most `key`, or, if `strict`, below it.
    pub fn floor(&self, at: Pointer, key: &[u8], strict: bool) -> Result<Option<Floor>> {
        self.read(at, |content| block::floor(content, key, strict))
    }
    /// The entry beside another one of its block.
    pub fn beside(&self, at: Pointer, spot: Spot, reverse: bool) -> Result<Option<Spot>> {
        self.read(at, |content| block::beside(content, spot, reverse))
    }
    /// The first entry of a block, or the last if `reverse`.
    pub fn edge(&self, at: Pointer, reverse: bool) -> Result<Spot> {
        self.read(at, |content| block::edge(content, reverse))
    }
    /// Decodes a group of a block into `into`.
    pub fn group(&self, at: Pointer, group: usize, into: &mut Group) -> Result<()> {
        self.read(at, |content| into.decode(content, group))
    }
    /// The block below `parent` that an entry of it names.
    pub fn child(&self, parent: Pointer, spot: Spot) -> Result<Pointer> {
        self.read(parent, |content| {
            child(content, parent, block::value(content, spot)?)
        })
    }
    /// Where in the file something in a block's content lies.
    pub fn in_file(&self, at: Pointer, range: Range<usize>) -> Range<usize> {
        let start = self
            .body
            .as_ref()
            .map_or(0, |body| body.pages.content_range(at).start);
        start + range.start..start + range.end
    }
    /// Bytes of the file.
    pub fn bytes(&self, range: Range<usize>) -> &[u8] {
        self.body
            .as_ref()
            .and_then(|body| body.pages.bytes().get(range))
            .unwrap_or_default()
    }
    /// Bytes of the file that keep it open.
    pub fn share(&self, range: Range<usize>) -> Bytes {
        match &self.body {
            Some(body) => Bytes::new(Slice {
                file: body.pages.bytes().clone(),
                range,
            }),
            None => Bytes::new([]),
        }
    }

    fn read<T>(&self, at: Pointer, what: impl FnOnce(&[u8]) -> Result<T, Damage>) -> Result<T> {
        let body = self.body()?;
        self.checked(body.pages.read(at).and_then(what))
    }
    fn body(&self) -> Result<&Body> {
        match &self.body {
            Some(body) => Ok(body),
            None => self.checked(Err(Damage::new("it is unusable"))),
        }
    }
    /// Remembers damage and gives it the run's name.
    fn checked<T>(&self, result: Result<T, Damage>) -> Result<T> {
        result.map_err(|Damage(why)| Error::Derived {
            path: self.path.clone(),
            why: self.damage.get_or_init(|| why).clone(),
        })
    }
}

impl Body {
    fn open(bytes: Bytes, meta: &RunMeta) -> Result<Body, Damage> {
        if bytes.len() as u64 != meta.len {
            return Err(Damage::new(format!(
                "it has {} bytes instead of {}",
                bytes.len(),
                meta.len
            )));
        }
        let pages = Pages::new(bytes)?;
        let footer = Footer::read(&pages)?;
        let named = (footer.first_seq, footer.last, footer.level);
        if named != (meta.first_seq, meta.last, meta.level) {
            return Err(Damage::new("it is another run than the manifest says"));
        }
        Ok(Body { pages, footer })
    }
    fn get(&self, key: &[u8]) -> Result<Option<Value>, Damage> {
        let mut at = self.footer.root;
        if at.pages == 0 {
            return Ok(None);
        }
        for _ in 0..self.footer.height {
            let content = self.pages.read(at)?;
            let Some(floor) = block::floor(content, key, false)? else {
                return Ok(None);
            };
            at = child(content, at, floor.value)?;
        }
        let floor = block::floor(self.pages.read(at)?, key, false)?;
        let start = self.pages.content_range(at).start;
        Ok(floor.filter(|floor| floor.exact).map(|floor| {
            floor
                .value
                .map(|value| start + value.start..start + value.end)
        }))
    }
}

/// Reads the pointer in an index block's entry. Children lie before their parents, so walks downwards end.
fn child(content: &[u8], parent: Pointer, value: Option<Range<usize>>) -> Result<Pointer, Damage> {
    value
        .and_then(|range| content.get(range))
        .and_then(block::read_pointer)
        .filter(|child| child.pages > 0 && child.end() <= u64::from(parent.page))
        .ok_or_else(|| Damage::new(format!("page {} points at no block", parent.page)))
}
