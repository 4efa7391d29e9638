//! The places of a run's events: 341 places per page, 12 bytes per place, so that one division finds the place of a seq.
//!
//! A place is: u32 LE segment, 5 bytes LE offset, 3 bytes LE length.

use super::page::{self, CONTENT, CRC, Damage, Mark, PAGE, Pages, Pointer};
use crate::prelude::*;

const BYTES: usize = 12;
const PER_PAGE: u64 = (CONTENT / BYTES) as u64;
/// Upper limit for offsets within a segment.
pub const OFFSET_END: u64 = 1 << 40;
/// Upper limit for an event's bytes.
pub const LEN_END: u32 = 1 << 24;

/// Returns the number of pages for the places of `events` events.
pub fn pages_for(events: u64) -> u64 {
    events.div_ceil(PER_PAGE)
}

/// Returns the place of the event `index` of the run, counted from 0.
pub fn read(pages: &Pages, index: u64) -> Result<Place, Damage> {
    let content = pages.read(Pointer {
        page: (index / PER_PAGE) as u32,
        pages: 1,
    })?;
    content
        .as_chunks::<BYTES>()
        .0
        .get((index % PER_PAGE) as usize)
        .map(unpack)
        .ok_or_else(|| Damage::new("a place is beyond its page"))
}

fn unpack(bytes: &[u8; BYTES]) -> Place {
    let [s0, s1, s2, s3, o0, o1, o2, o3, o4, l0, l1, l2] = *bytes;
    Place {
        segment: u32::from_le_bytes([s0, s1, s2, s3]),
        offset: u64::from_le_bytes([o0, o1, o2, o3, o4, 0, 0, 0]),
        len: u32::from_le_bytes([l0, l1, l2, 0]),
    }
}

fn pack(place: &Place) -> Result<[u8; BYTES]> {
    if place.offset >= OFFSET_END {
        return Err(Error::too_large(
            "the offset of an event",
            place.offset,
            OFFSET_END - 1,
        ));
    }
    if place.len >= LEN_END {
        return Err(Error::too_large(
            "an event",
            u64::from(place.len),
            u64::from(LEN_END - 1),
        ));
    }
    let [s0, s1, s2, s3] = place.segment.to_le_bytes();
    let [o0, o1, o2, o3, o4, ..] = place.offset.to_le_bytes();
    let [l0, l1, l2, _] = place.len.to_le_bytes();
    Ok([s0, s1, s2, s3, o0, o1, o2, o3, o4, l0, l1, l2])
}

pub struct PlacesBuilder {
    page: Vec<u8>,
    count: u64,
}

impl PlacesBuilder {
    pub fn new() -> PlacesBuilder {
        PlacesBuilder {
            page: vec![0; CRC],
            count: 0,
        }
    }
    pub fn count(&self) -> u64 {
        self.count
    }
    /// Adds the next place. Returns true if the page is now full; the caller must then finish the page.
    pub fn push(&mut self, place: &Place) -> Result<bool> {
        debug_assert!(
            self.page.len() + BYTES <= PAGE,
            "a full page must be finished before place {}",
            self.count
        );
        self.page.extend(pack(place)?);
        self.count += 1;
        Ok(self.count.is_multiple_of(PER_PAGE))
    }
    /// Returns the page so far; `None` if the page is empty. The next push starts another page.
    pub fn finish_page(&mut self, mark: Mark) -> Option<Vec<u8>> {
        if self.page.len() == CRC {
            return None;
        }
        let mut page = std::mem::replace(&mut self.page, vec![0; CRC]);
        page::seal(&mut page, mark);
        Some(page)
    }
}
