//! Layout of a run in the manifest: places of its parts, and its filter and bounds.

use super::bounds::Bounds;
use super::filter::Filter;
use super::page::{PAGE, Pointer};
use super::places;

/// Maximum height of a tree; a higher tree counts as damage. A height of 6 is enough for a file of 2^32 pages.
const HEIGHT_MAX: u8 = 8;

/// The parts of a run. Places begin at page 0; their pages follow from the number of events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// Number of index levels above the entries.
    pub height: u8,
    /// The root of the tree of blocks; no pages if the run has no entries.
    pub root: Pointer,
    pub filter: Filter,
    /// Number of keys in the filter.
    pub filter_keys: u64,
    pub bounds: Bounds,
}

impl Shape {
    /// Returns true if the layout is possible for a file of `len` bytes with the places of `events` events.
    pub fn fits(&self, len: u64, events: u64) -> bool {
        let places = places::pages_for(events);
        let (first, end) = match self.filter {
            Filter::Named(_) => (len / PAGE as u64, len / PAGE as u64),
            Filter::Paged(at) if at.pages == 0 => return false,
            Filter::Paged(at) => (u64::from(at.page), at.end()),
        };
        self.height <= HEIGHT_MAX
            && end <= u64::from(u32::MAX)
            && end * PAGE as u64 == len
            && places <= first
            && self.root.end() <= first
            && (self.root.pages == 0 || u64::from(self.root.page) >= places)
    }
}
