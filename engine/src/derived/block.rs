//! Blocks of entries: keys in ascending order, each stored as the difference from the key before.
//!
//! The layout after the CRC begins with the entries. An entry is: a varint, the number of bytes that its key shares
//! with the key before; a varint, the number of remaining bytes of the key; a varint, 0 for a tombstone, else the
//! length of the value plus 1; the remaining bytes of the key; the value. Sixteen entries are a group. The first key of
//! a group shares nothing, so a search may begin at any group. The block ends with: u16 LE for the start of each group
//! except the first group, in reverse order; u32 LE end of the entries; u16 LE number of groups. All positions are
//! counted from the end of the CRC. A block of more than one page holds exactly one entry. No block is empty.

use super::page::{self, CRC, Damage, Mark, PAGE, Pointer};
use std::cmp::Ordering;
use std::ops::Range;

/// Number of entries in a group.
const GROUP: usize = 16;
const U16: usize = 2;
/// Bytes for the end of the entries and the number of groups.
const TAIL: usize = 6;

pub struct BlockBuilder {
    bytes: Vec<u8>,
    last: Vec<u8>,
    count: usize,
    /// Starts of the groups except the first.
    starts: Vec<u16>,
}

impl BlockBuilder {
    pub fn new() -> BlockBuilder {
        BlockBuilder {
            bytes: vec![0; CRC],
            last: Vec::new(),
            count: 0,
            starts: Vec::new(),
        }
    }
    pub fn last(&self) -> &[u8] {
        &self.last
    }
    /// Returns true if the entry can be pushed without making the block too long.
    pub fn fits(&self, key: &[u8], value: Option<&[u8]>) -> bool {
        let rest = key.len() - self.shared(key);
        // The entry has three lengths of at most two bytes each (if it fits at all), and may add the start of a new group.
        let entry = 3 * 2 + rest + value.map_or(0, <[u8]>::len) + U16;
        self.count == 0 || self.bytes.len() + entry + self.trailer() <= PAGE
    }
    /// Adds an entry after all others.
    pub fn push(&mut self, key: &[u8], value: Option<&[u8]>) {
        debug_assert!(
            self.count == 0 || self.last.as_slice() < key,
            "key {key:?} must be above {:?}",
            self.last
        );
        if self.count > 0 && self.count.is_multiple_of(GROUP) {
            self.starts.push((self.bytes.len() - CRC) as u16);
        }
        let shared = self.shared(key);
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
        self.count += 1;
    }
    pub fn finish(&mut self, mark: Mark) -> &[u8] {
        debug_assert_eq!(
            self.starts.len(),
            self.count.saturating_sub(1) / GROUP,
            "each group but the first of {} entries must have its start",
            self.count
        );
        let end = (self.bytes.len() - CRC) as u32;
        let whole = page::pages_of(self.bytes.len() + self.trailer()) * PAGE;
        self.bytes.resize(whole - self.trailer(), 0);
        for start in self.starts.iter().rev() {
            self.bytes.extend(start.to_le_bytes());
        }
        self.bytes.extend(end.to_le_bytes());
        let groups = self.starts.len() as u16 + 1;
        self.bytes.extend(groups.to_le_bytes());
        page::seal(&mut self.bytes, mark);
        &self.bytes
    }
    /// Clears the builder for the next block.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.resize(CRC, 0);
        self.last.clear();
        self.starts.clear();
        self.count = 0;
    }

    fn shared(&self, key: &[u8]) -> usize {
        match self.count.is_multiple_of(GROUP) {
            true => 0,
            false => common(&self.last, key),
        }
    }
    fn trailer(&self) -> usize {
        self.starts.len() * U16 + TAIL
    }
}

/// An entry as stored in a block; ranges are within the block's content.
#[derive(Debug, Clone)]
struct Raw {
    shared: usize,
    rest: Range<usize>,
    value: Option<Range<usize>>,
}

/// The content of a block, with its end parsed.
#[derive(Clone, Copy)]
struct Groups<'a> {
    content: &'a [u8],
    count: usize,
    end: usize,
}

impl<'a> Groups<'a> {
    fn new(content: &'a [u8]) -> Result<Groups<'a>, Damage> {
        let nonsense = || Damage::new("the end of a block is invalid");
        let (rest, count) = content.split_last_chunk().ok_or_else(nonsense)?;
        let (_, end) = rest.split_last_chunk().ok_or_else(nonsense)?;
        let count = usize::from(u16::from_le_bytes(*count));
        let end = u32::from_le_bytes(*end) as usize;
        let trailer = TAIL + count.saturating_sub(1) * U16;
        let whole = count > 0 && end + trailer <= content.len();
        // A block of several pages must hold a single entry, so a long block is never decoded entry by entry.
        let single = count == 1 || content.len() <= PAGE;
        (whole && single)
            .then_some(Groups {
                content,
                count,
                end,
            })
            .ok_or_else(nonsense)
    }
    fn start(self, group: usize) -> usize {
        match group {
            0 => 0,
            group if group < self.count => {
                let at = self.content.len().saturating_sub(TAIL + group * U16);
                let start = self.content.get(at..).and_then(<[u8]>::first_chunk);
                start.map_or(self.end, |start| usize::from(u16::from_le_bytes(*start)))
            }
            _ => self.end,
        }
    }
    fn entries(self, group: usize) -> Entries<'a> {
        Entries {
            content: self.content,
            at: self.start(group),
            end: self.start(group + 1).min(self.end),
        }
    }
    /// Returns the last group whose first key is not above `key` (or, if `strict`, is below `key`). Returns the first group if no
    /// group has such a key.
    fn search(self, key: &[u8], strict: bool) -> Result<usize, Damage> {
        let (mut low, mut high) = (0, self.count);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            let first = self.entries(middle).first_key()?;
            match first < key || (!strict && first == key) {
                true => low = middle,
                false => high = middle,
            }
        }
        Ok(low)
    }
}

/// Reads the entries of a group in order.
struct Entries<'a> {
    content: &'a [u8],
    at: usize,
    end: usize,
}

impl<'a> Entries<'a> {
    fn first_key(&mut self) -> Result<&'a [u8], Damage> {
        let first = self.next()?;
        first
            .and_then(|raw| self.content.get(raw.rest))
            .ok_or_else(|| Damage::new("a group of a block is empty"))
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

/// Position of an entry in its block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EntryPosition {
    pub group: usize,
    pub index: usize,
}

/// Result of a search: the last entry whose key is not greater than the searched key.
pub struct SearchResult {
    pub spot: EntryPosition,
    /// True if the key of the entry equals the searched key.
    pub exact: bool,
    /// Range of the entry's value in the content; `None` for a tombstone.
    pub value: Option<Range<usize>>,
}

/// Finds the last entry whose key is at most `key` or, if `strict`, below `key`. Does not rebuild the keys of entries, because
/// the length that `key` shares with the previous entry decides most comparisons.
pub fn floor(content: &[u8], key: &[u8], strict: bool) -> Result<Option<SearchResult>, Damage> {
    let groups = Groups::new(content)?;
    let group = groups.search(key, strict)?;
    let mut entries = groups.entries(group);
    let mut found = None;
    let (mut matched, mut index) = (0, 0);
    while let Some(raw) = entries.next()? {
        let order = match raw.shared.cmp(&matched) {
            // The entry shares with its predecessor the byte that makes the predecessor smaller than `key`, so the entry is
            // smaller, too.
            Ordering::Greater => Ordering::Less,
            // The entry is greater than its predecessor at a byte where the predecessor equals `key`, so the entry is greater
            // than `key`.
            Ordering::Less => Ordering::Greater,
            Ordering::Equal => {
                let rest = content.get(raw.rest).unwrap_or_default();
                let sought = key.get(matched..).unwrap_or_default();
                matched += common(rest, sought);
                rest.cmp(sought)
            }
        };
        if order.is_gt() || (strict && order.is_eq()) {
            break;
        }
        found = Some(SearchResult {
            spot: EntryPosition { group, index },
            exact: order.is_eq(),
            value: raw.value,
        });
        if order.is_eq() {
            break;
        }
        index += 1;
    }
    Ok(found)
}

/// Returns the next entry in a block, or the previous entry if `reverse`. Returns `None` at the block's edge.
pub fn beside(
    content: &[u8],
    spot: EntryPosition,
    reverse: bool,
) -> Result<Option<EntryPosition>, Damage> {
    let groups = Groups::new(content)?;
    if reverse {
        return Ok(match (spot.index, spot.group) {
            (0, 0) => None,
            (0, group) => Some(last_of(groups, group - 1)?),
            (index, group) => Some(EntryPosition {
                group,
                index: index - 1,
            }),
        });
    }
    let last = last_of(groups, spot.group)?;
    Ok(if spot.index < last.index {
        Some(EntryPosition {
            index: spot.index + 1,
            ..spot
        })
    } else if spot.group + 1 < groups.count {
        Some(EntryPosition {
            group: spot.group + 1,
            index: 0,
        })
    } else {
        None
    })
}

/// Returns the first entry of a block, or the last if `reverse`.
pub fn edge(content: &[u8], reverse: bool) -> Result<EntryPosition, Damage> {
    let groups = Groups::new(content)?;
    match reverse {
        false => Ok(EntryPosition::default()),
        true => last_of(groups, groups.count - 1),
    }
}

fn last_of(groups: Groups<'_>, group: usize) -> Result<EntryPosition, Damage> {
    let mut entries = groups.entries(group);
    let mut count = 0_usize;
    while entries.next()?.is_some() {
        count += 1;
    }
    let index = count
        .checked_sub(1)
        .ok_or_else(|| Damage::new("a group of a block is empty"))?;
    Ok(EntryPosition { group, index })
}

/// Returns the range of an entry's value in the content; `None` for a tombstone or a missing entry.
pub fn value(content: &[u8], spot: EntryPosition) -> Result<Option<Range<usize>>, Damage> {
    let mut entries = Groups::new(content)?.entries(spot.group);
    for _ in 0..spot.index {
        entries.next()?;
    }
    Ok(entries.next()?.and_then(|raw| raw.value))
}

/// A group of entries with complete keys, to walk in both directions.
#[derive(Default)]
pub struct Group {
    keys: Vec<u8>,
    entries: Vec<(Range<usize>, Option<Range<usize>>)>,
}

impl Group {
    /// Decodes a group of a block's content into `self`, replacing the old content.
    pub fn decode(&mut self, content: &[u8], group: usize) -> Result<(), Damage> {
        self.keys.clear();
        self.entries.clear();
        let mut entries = Groups::new(content)?.entries(group);
        let mut last = 0..0;
        while let Some(raw) = entries.next()? {
            if raw.shared > last.len() || self.entries.len() == GROUP {
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
    /// Returns the key of an entry; an empty key if there is no entry with this index.
    pub fn key(&self, index: usize) -> &[u8] {
        self.entries
            .get(index)
            .and_then(|(key, _)| self.keys.get(key.clone()))
            .unwrap_or_default()
    }
    /// Returns the range of an entry's value in the content; `None` for a tombstone.
    pub fn value(&self, index: usize) -> Option<Range<usize>> {
        let (_, value) = self.entries.get(index)?;
        value.clone()
    }
    pub fn len(&self) -> usize {
        self.entries.len()
    }
}

/// Encodes a pointer as the value of an index block's entry.
pub fn write_pointer(pointer: Pointer) -> Vec<u8> {
    let mut value = Vec::new();
    put_varint(&mut value, u64::from(pointer.page));
    put_varint(&mut value, u64::from(pointer.pages));
    value
}

/// Decodes the output of [`write_pointer`].
pub fn read_pointer(value: &[u8]) -> Option<Pointer> {
    let mut at = 0;
    let page = varint(value, &mut at)?;
    let pages = varint(value, &mut at)?;
    (at == value.len()).then_some(Pointer {
        page: u32::try_from(page).ok()?,
        pages: u32::try_from(pages).ok()?,
    })
}

/// Returns the length of the common prefix of two keys.
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
