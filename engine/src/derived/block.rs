//! Blocks of entries: keys in ascending order, each as what differs from the one before.
//!
//! Behind the CRC: u32 LE bytes used by the entries, then the entries: varint bytes shared with the key before,
//! varint bytes of the rest, varint 0 for a tombstone or length of the value plus 1, the rest of the key, the
//! value. A block of more than one page holds exactly one entry. No block is empty.

use super::page::{self, CRC, Damage, PAGE, Pointer};
use std::cmp::Ordering;
use std::ops::Range;

const USED: usize = 4;

/// Writes a block.
pub struct BlockBuilder {
    bytes: Vec<u8>,
    last: Vec<u8>,
    empty: bool,
}

impl BlockBuilder {
    /// An empty block.
    pub fn new() -> BlockBuilder {
        BlockBuilder {
            bytes: vec![0; CRC + USED],
            last: Vec::new(),
            empty: true,
        }
    }
    /// The last key pushed.
    pub fn last(&self) -> &[u8] {
        &self.last
    }
    /// Whether the entry can be pushed without making the block too long.
    pub fn fits(&self, key: &[u8], value: Option<&[u8]>) -> bool {
        let rest = key.len() - common(&self.last, key);
        self.empty || self.bytes.len() + rest + value.map_or(0, <[u8]>::len) + 9 <= PAGE
    }
    /// Adds an entry behind all others.
    pub fn push(&mut self, key: &[u8], value: Option<&[u8]>) {
        debug_assert!(self.empty || self.last.as_slice() < key);
        let shared = common(&self.last, key);
        let (_, rest) = key.split_at(shared);
        put_varint(&mut self.bytes, shared as u64);
        put_varint(&mut self.bytes, rest.len() as u64);
        put_varint(
            &mut self.bytes,
            value.map_or(0, |value| value.len() as u64 + 1),
        );
        self.bytes.extend_from_slice(rest);
        self.bytes.extend_from_slice(value.unwrap_or_default());
        self.last.truncate(shared);
        self.last.extend_from_slice(rest);
        self.empty = false;
    }
    /// The finished block, for the pages from `page` on.
    pub fn finish(&mut self, page: u32) -> &[u8] {
        let used = (self.bytes.len() - CRC - USED) as u32;
        if let Some(place) = self.bytes.get_mut(CRC..CRC + USED) {
            place.copy_from_slice(&used.to_le_bytes());
        }
        page::seal(&mut self.bytes, page);
        &self.bytes
    }
    /// Starts over, for the next block.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.resize(CRC + USED, 0);
        self.last.clear();
        self.empty = true;
    }
}

/// An entry as it stands in a block; ranges are within the block's content.
#[derive(Debug, Clone)]
struct Raw {
    shared: usize,
    rest: Range<usize>,
    value: Option<Range<usize>>,
}

/// Reads the entries of a block's content one after the other.
struct Entries<'a> {
    content: &'a [u8],
    at: usize,
    end: usize,
}

impl<'a> Entries<'a> {
    fn new(content: &'a [u8]) -> Result<Entries<'a>, Damage> {
        let used = content
            .first_chunk::<USED>()
            .map_or(0, |used| u32::from_le_bytes(*used) as usize);
        if used == 0 || used > content.len() - USED {
            return Err(Damage::new(
                "a block says a wrong number of bytes of itself",
            ));
        }
        Ok(Entries {
            content,
            at: USED,
            end: USED + used,
        })
    }
    fn next(&mut self) -> Result<Option<Raw>, Damage> {
        if self.at >= self.end {
            return Ok(None);
        }
        let shared = self.varint()?;
        let rest = self.varint()?;
        let value = self.varint()?;
        let rest = self.take(rest)?;
        let value = match value.checked_sub(1) {
            Some(len) => Some(self.take(len)?),
            None => None,
        };
        Ok(Some(Raw {
            shared,
            rest,
            value,
        }))
    }
    #[inline]
    fn varint(&mut self) -> Result<usize, Damage> {
        varint(self.content, &mut self.at)
            .ok_or_else(|| Damage::new("a number in a block does not end"))
    }
    #[inline]
    fn take(&mut self, len: usize) -> Result<Range<usize>, Damage> {
        if len > self.end.saturating_sub(self.at) {
            return Err(Damage::new("an entry reaches beyond its block"));
        }
        self.at += len;
        Ok(self.at - len..self.at)
    }
}

/// What a search finds: the last entry whose key is not greater than the one sought.
pub struct Floor {
    /// Whether its key is the one sought.
    pub exact: bool,
    /// Its value's range in the content; `None` for a tombstone.
    pub value: Option<Range<usize>>,
}

/// Finds the last entry whose key is at most `key`. Puts no key together: how much of `key` the entry before
/// shares decides most comparisons.
///
/// # Errors
/// Where the content is malformed.
pub fn floor(content: &[u8], key: &[u8]) -> Result<Option<Floor>, Damage> {
    let mut entries = Entries::new(content)?;
    let mut matched = 0;
    let mut found = None;
    while let Some(raw) = entries.next()? {
        let order = match raw.shared.cmp(&matched) {
            // It agrees with its predecessor, which is smaller than `key`, beyond the byte that makes it so.
            Ordering::Greater => Ordering::Less,
            // It is greater than its predecessor within what that one shares with `key`.
            Ordering::Less => Ordering::Greater,
            Ordering::Equal => {
                let rest = content.get(raw.rest.clone()).unwrap_or_default();
                let sought = key.get(matched..).unwrap_or_default();
                matched += common(rest, sought);
                rest.cmp(sought)
            }
        };
        match order {
            Ordering::Less => found = Some((false, raw.value)),
            Ordering::Equal => {
                found = Some((true, raw.value));
                break;
            }
            Ordering::Greater => break,
        }
    }
    Ok(found.map(|(exact, value)| Floor { exact, value }))
}

/// A block with its keys put together, for walks in both directions.
#[derive(Default)]
pub struct Block {
    keys: Vec<u8>,
    entries: Vec<(Range<usize>, Option<Range<usize>>)>,
}

impl Block {
    /// Decodes a block's content into `self`, whose old content is dropped.
    ///
    /// # Errors
    /// Where the content is malformed.
    pub fn decode(&mut self, content: &[u8]) -> Result<(), Damage> {
        self.keys.clear();
        self.entries.clear();
        let mut entries = Entries::new(content)?;
        let mut last = 0..0;
        while let Some(raw) = entries.next()? {
            // A block of several pages has one entry, so what is put together here is bounded.
            if raw.shared > last.len() || (!self.entries.is_empty() && content.len() > PAGE) {
                return Err(Damage::new("the keys of a block do not fit together"));
            }
            let start = self.keys.len();
            self.keys
                .extend_from_within(last.start..last.start + raw.shared);
            self.keys
                .extend_from_slice(content.get(raw.rest).unwrap_or_default());
            last = start..self.keys.len();
            self.entries.push((last.clone(), raw.value));
        }
        Ok(())
    }
    /// How many entries it has.
    pub fn len(&self) -> usize {
        self.entries.len()
    }
    /// The key of an entry; empty where there is none.
    pub fn key(&self, index: usize) -> &[u8] {
        self.entries
            .get(index)
            .and_then(|(key, _)| self.keys.get(key.clone()))
            .unwrap_or_default()
    }
    /// The range of an entry's value in the content; `None` for a tombstone.
    pub fn value(&self, index: usize) -> Option<Range<usize>> {
        self.entries.get(index).and_then(|(_, value)| value.clone())
    }
    /// How many keys are smaller than `key`.
    pub fn count_below(&self, key: &[u8]) -> usize {
        self.entries
            .partition_point(|(range, _)| self.keys.get(range.clone()).unwrap_or_default() < key)
    }
}

/// A pointer as the value of an index block's entry.
pub fn write_pointer(pointer: Pointer) -> Vec<u8> {
    let mut value = Vec::new();
    put_varint(&mut value, u64::from(pointer.page));
    put_varint(&mut value, u64::from(pointer.pages));
    value
}

/// Reads what [`write_pointer`] wrote.
pub fn read_pointer(value: &[u8]) -> Option<Pointer> {
    let mut at = 0;
    let page = varint(value, &mut at)?;
    let pages = varint(value, &mut at)?;
    (at == value.len()).then_some(Pointer {
        page: u32::try_from(page).ok()?,
        pages: u32::try_from(pages).ok()?,
    })
}

/// How many bytes two keys have in common from the start.
pub fn common(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

#[inline]
fn varint(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let mut value = 0;
    for shift in [0, 7, 14, 21, 28] {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value |= usize::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

/// Appends a number, seven bits a byte, lowest first.
fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
