//! The last page of a run: what it covers, and where its parts lie.
//!
//! Little-endian behind the page's CRC: 8 bytes magic, u32 format version, u8 level, u8 height of the tree of
//! blocks, u64 first seq, then the last event (u64 seq, 16 bytes id, u32 segment, u64 offset, u32 length, u32
//! CRC), u32 page and u32 pages of the tree's root (0 pages: no entries), u32 page and u32 pages of the filter,
//! u64 keys in the filter; zeros. Places begin at page 0; their pages follow from the seqs.

use super::page::{CRC, Damage, PAGE, Pages, Pointer};
use super::places;
use super::store::Anchor;
use crate::event_id::EventId;
use crate::place::Place;

const MAGIC: [u8; 8] = *b"\x1eTLRUN\r\n";
/// The format that is written, and the only one that is read: another one means "rebuild from the log".
pub const VERSION: u32 = 1;
/// Deeper trees are taken for damage; a height of 6 suffices for a file of 2^32 pages.
const HEIGHT_MAX: u8 = 8;

/// What a run's last page says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Footer {
    /// 0 for a small run as flushed, one more for each merge.
    pub level: u8,
    /// How many levels of index blocks stand above the entries.
    pub height: u8,
    /// First seq covered.
    pub first_seq: u64,
    /// Last event covered.
    pub last: Anchor,
    /// The root of the tree of blocks; no pages if the run has no entries.
    pub root: Pointer,
    /// The filter.
    pub filter: Pointer,
    /// How many keys the filter was built of.
    pub filter_keys: u64,
}

impl Footer {
    /// How many events the run covers.
    pub fn events(&self) -> u64 {
        self.last.seq - self.first_seq + 1
    }
    /// The page, room for its CRC in front.
    pub fn encode(&self) -> Vec<u8> {
        let mut page = vec![0; CRC];
        page.extend(MAGIC);
        page.extend(VERSION.to_le_bytes());
        page.extend([self.level, self.height]);
        page.extend(self.first_seq.to_le_bytes());
        page.extend(self.last.seq.to_le_bytes());
        page.extend(self.last.id.bytes());
        page.extend(self.last.place.segment.to_le_bytes());
        page.extend(self.last.place.offset.to_le_bytes());
        page.extend(self.last.place.len.to_le_bytes());
        page.extend(self.last.crc.to_le_bytes());
        for number in [
            self.root.page,
            self.root.pages,
            self.filter.page,
            self.filter.pages,
        ] {
            page.extend(number.to_le_bytes());
        }
        page.extend(self.filter_keys.to_le_bytes());
        page.resize(PAGE, 0);
        page
    }
    /// Reads and checks the last of `pages`.
    ///
    /// # Errors
    /// Where it is damaged, of another version, or contradicts the file's length.
    pub fn read(pages: &Pages) -> Result<Footer, Damage> {
        let Some(own) = pages.count().checked_sub(1) else {
            return Err(Damage::new("the file is empty"));
        };
        let content = pages.read(Pointer {
            page: own,
            pages: 1,
        })?;
        let footer = Footer::decode(content)
            .ok_or_else(|| Damage::new("the last page is not one of this format"))?;
        let places = places::pages_for(footer.events());
        let whole = footer.height <= HEIGHT_MAX
            && footer.filter.end() == u64::from(own)
            && footer.root.end() <= u64::from(footer.filter.page)
            && (footer.root.pages == 0 || u64::from(footer.root.page) >= places)
            && places <= u64::from(footer.filter.page);
        whole
            .then_some(footer)
            .ok_or_else(|| Damage::new("the last page does not fit the file"))
    }
    fn decode(content: &[u8]) -> Option<Footer> {
        let mut fields = Fields(content);
        if fields.take()? != MAGIC || u32::from_le_bytes(fields.take()?) != VERSION {
            return None;
        }
        let [level, height] = fields.take()?;
        let footer = Footer {
            level,
            height,
            first_seq: fields.u64()?,
            last: Anchor {
                seq: fields.u64()?,
                id: EventId::from_bytes(fields.take()?)?,
                place: Place {
                    segment: fields.u32()?,
                    offset: fields.u64()?,
                    len: fields.u32()?,
                },
                crc: fields.u32()?,
            },
            root: fields.pointer()?,
            filter: fields.pointer()?,
            filter_keys: fields.u64()?,
        };
        // So that the number of events cannot overflow.
        (1..=footer.last.seq)
            .contains(&footer.first_seq)
            .then_some(footer)
    }
}

/// Fixed-width fields, one after the other.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*field)
    }
    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }
    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }
    fn pointer(&mut self) -> Option<Pointer> {
        Some(Pointer {
            page: self.u32()?,
            pages: self.u32()?,
        })
    }
}
