//! The filter of a run: proves for most missing keys that they are not in the run.
//!
//! The filter is a Bloom filter with about 10 bits for each key, of which seven are set. About 1 in 100 lookups of a
//! missing key wrongly answers "maybe". The filter of few keys is in the manifest, so that a lookup opens no file. The
//! filter of many keys is in pages of the run: the hash chooses a page and the bits in it, so that a lookup reads and
//! checks one page. The filter holds an entry by its key, and a series by the part that all keys of the series share:
//! see [`filter_key`].

use super::key::SERIES;
use super::page::{self, CONTENT, CRC, Damage, Mark, PAGE, Pages, Pointer};

/// Number of bits in a page.
const BITS: u64 = CONTENT as u64 * 8;
const BITS_PER_KEY: u64 = 10;
const PROBES: u64 = 7;
/// Largest number of keys of a filter in the manifest. Such a filter has about 4 KiB, which every flush writes again.
const NAMED_KEYS_MAX: u64 = 3_200;
/// Smallest size of a filter in the manifest, in bytes. In a smaller filter, too many of the bits would be set.
const NAMED_BYTES_MIN: u64 = 64;

/// Returns the part of a key that the filter holds. For a key of a series, this is everything up to the first zero byte, which
/// ends the name; for any other key, it is the whole key.
pub fn filter_key(key: &[u8]) -> &[u8] {
    match key.split_first() {
        Some((&namespace, rest)) if namespace >= SERIES => memchr::memchr(0, rest)
            .and_then(|zero| key.get(..zero + 2))
            .unwrap_or(key),
        _ => key,
    }
}

/// Returns the series that holds every key of `from..to`, if there is one.
pub fn series_of<'a>(from: &'a [u8], to: &[u8]) -> Option<&'a [u8]> {
    let series = filter_key(from);
    let (&zero, name) = series.split_last()?;
    let within = *series.first()? >= SERIES
        && series.len() > 1
        && zero == 0
        && (to.starts_with(series) || to.strip_prefix(name) == Some(&[1]));
    within.then_some(series)
}

/// Returns a 64-bit hash, which is part of the format. The length is mixed in first, then eight bytes at a time, by xor,
/// multiplication and a shift. A last partial word is padded with zeros.
pub fn hash(bytes: &[u8]) -> u64 {
    const ODD: u64 = 0xd6e8_feb8_6659_fd93;
    let mix = |hash: u64, word: u64| {
        let product = (hash ^ word).wrapping_mul(ODD);
        product ^ (product >> 32)
    };
    let (words, tail) = bytes.as_chunks::<8>();
    let mut hash = mix(0x9e37_79b9_7f4a_7c15, bytes.len() as u64);
    for word in words {
        hash = mix(hash, u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    for (to, from) in last.iter_mut().zip(tail) {
        *to = *from;
    }
    mix(mix(hash, u64::from_le_bytes(last)), 0)
}

/// Returns the number of filter pages for `keys` keys.
fn pages_for(keys: u64) -> u64 {
    (keys * BITS_PER_KEY).div_ceil(BITS)
}

/// Returns the page among `pages` for a hash.
fn page_of(hash: u64, pages: u64) -> u64 {
    ((hash >> 32) * pages) >> 32
}

/// Returns the bits among `bits` for a hash, each as byte and bit.
fn probes(hash: u64, bits: u64) -> impl Iterator<Item = (usize, u8)> {
    let (start, step) = (hash & 0xffff, ((hash >> 16) & 0xffff) | 1);
    (0..PROBES).map(move |probe| {
        let bit = (start + probe * step) % bits;
        ((bit / 8) as usize, 1 << (bit % 8))
    })
}

/// Place of a run's filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Filter {
    /// Bits in the manifest.
    Named(Box<[u8]>),
    /// Pages of the run.
    Paged(Pointer),
}

/// Builder of a run's filter.
pub enum FilterBuilder {
    /// For a small or unknown number of keys: stores the hashes until the end.
    Growing(Vec<u64>),
    /// For a known largest number of keys: sets the bits of each key at once.
    Sized { pages: Vec<u8>, keys: u64 },
}

impl FilterBuilder {
    /// Creates a builder for an unknown number of keys; takes 8 bytes of memory for each key.
    pub fn growing() -> FilterBuilder {
        FilterBuilder::Growing(Vec::new())
    }
    pub fn sized(keys: u64) -> FilterBuilder {
        if keys <= NAMED_KEYS_MAX {
            return FilterBuilder::growing();
        }
        FilterBuilder::Sized {
            pages: vec![0; pages_for(keys) as usize * PAGE],
            keys: 0,
        }
    }
    pub fn add(&mut self, hash: u64) {
        match self {
            FilterBuilder::Growing(hashes) => hashes.push(hash),
            FilterBuilder::Sized { pages, keys } => {
                *keys += 1;
                let page = page_of(hash, (pages.len() / PAGE) as u64) as usize;
                if let Some(content) = pages.get_mut(page * PAGE + CRC..) {
                    set(content, BITS, hash);
                }
            }
        }
    }
    /// Returns the number of keys, the filter, and the filter's pages for a run with the mark `mark`. Each page is a
    /// block; `first` is the number of the first page.
    pub fn finish(self, first: u32, mark: Mark) -> (u64, Filter, Vec<u8>) {
        match self {
            FilterBuilder::Growing(hashes) if hashes.len() as u64 <= NAMED_KEYS_MAX => {
                let keys = hashes.len() as u64;
                let bytes = match keys {
                    0 => 0,
                    keys => (keys * BITS_PER_KEY).div_ceil(8).max(NAMED_BYTES_MIN),
                };
                let mut bits = vec![0; bytes as usize];
                hashes.into_iter().for_each(|hash| {
                    let count = bits.len() as u64 * 8;
                    set(&mut bits, count, hash);
                });
                (keys, Filter::Named(bits.into()), Vec::new())
            }
            FilterBuilder::Growing(hashes) => {
                let mut sized = FilterBuilder::sized(hashes.len() as u64);
                hashes.into_iter().for_each(|hash| sized.add(hash));
                sized.finish(first, mark)
            }
            FilterBuilder::Sized { mut pages, keys } => {
                let blocks = pages.as_chunks_mut::<PAGE>().0;
                for (page, number) in blocks.iter_mut().zip(first..) {
                    page::seal_page(page, mark.at(number));
                }
                let pointer = Pointer {
                    page: first,
                    pages: blocks.len() as u32,
                };
                (keys, Filter::Paged(pointer), pages)
            }
        }
    }
}

/// Sets the bits of a hash.
fn set(content: &mut [u8], bits: u64, hash: u64) {
    for (byte, bit) in probes(hash, bits) {
        if let Some(byte) = content.get_mut(byte) {
            *byte |= bit;
        }
    }
}

fn are_set(content: &[u8], bits: u64, hash: u64) -> bool {
    probes(hash, bits).all(|(byte, bit)| content.get(byte).is_some_and(|byte| byte & bit != 0))
}

/// Returns true if a filter in the manifest may hold a hash. The filter of a run without keys holds nothing.
pub fn named_may_hold(bits: &[u8], hash: u64) -> bool {
    !bits.is_empty() && are_set(bits, bits.len() as u64 * 8, hash)
}

/// Returns true if a filter in `pages` may hold a hash.
pub fn may_hold(pages: &Pages, filter: Pointer, hash: u64) -> Result<bool, Damage> {
    let page = page_of(hash, u64::from(filter.pages)) as u32;
    let content = pages.read(Pointer {
        page: filter.page + page,
        pages: 1,
    })?;
    Ok(are_set(content, BITS, hash))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::Bytes;

    #[test]
    fn the_hash_is_part_of_the_format() {
        assert_eq!(hash(b""), 0xf56a_99c2_15c0_1433);
        assert_eq!(hash(b"task-7"), 0x9282_4345_bb9a_5b7a);
        assert_eq!(
            hash(b"a key of more than eight bytes"),
            0x430f_626a_ef8e_f666
        );
    }

    #[test]
    fn words_differ_in_length_and_order() {
        let texts: [&[u8]; 6] = [
            b"",
            b"\0",
            b"\0\0",
            b"12345678abcdefgh",
            b"abcdefgh12345678",
            b"12345678",
        ];
        let hashes: std::collections::HashSet<u64> = texts.into_iter().map(hash).collect();
        assert_eq!(hashes.len(), texts.len());
    }

    #[test]
    fn holds_what_was_added_and_hardly_anything_else() {
        let key = |number: u32| hash(format!("task-{number}").as_bytes());
        for (count, pages) in [(20_000, 7), (3_201, 1), (3_200, 0), (100, 0), (1, 0)] {
            for mut builder in [
                FilterBuilder::growing(),
                FilterBuilder::sized(u64::from(count)),
            ] {
                (0..count).for_each(|number| builder.add(key(number)));
                let mark = Mark::default();
                let (keys, filter, bytes) = builder.finish(0, mark);
                assert_eq!((keys, bytes.len()), (u64::from(count), pages * PAGE));
                let pages = Pages::new(Bytes::new(bytes), mark).unwrap();
                let held = |number| match &filter {
                    Filter::Named(bits) => named_may_hold(bits, key(number)),
                    Filter::Paged(filter) => may_hold(&pages, *filter, key(number)).unwrap(),
                };
                assert!((0..count).all(held));
                let wrong = (20_000..120_000).filter(|number| held(*number)).count();
                assert!(wrong < 1500, "{wrong} of 100,000 wrong beside {count}");
            }
        }
        let (keys, filter, bytes) = FilterBuilder::growing().finish(0, Mark::default());
        assert_eq!((keys, bytes.len()), (0, 0));
        assert_eq!(filter, Filter::Named(Box::new([])));
        assert!(!named_may_hold(&[], key(1)));
    }

    #[test]
    fn a_series_is_known_by_its_name() {
        let key = super::super::key::posting(crate::refs::Ref::new(1), "7", 300);
        assert_eq!(filter_key(&key), b"\xf17\0");
        assert_eq!(filter_key(b"\x017\0abc"), b"\x017\0abc");
        assert_eq!(filter_key(b"\xf1"), b"\xf1");
        assert_eq!(filter_key(b""), b"");
    }

    #[test]
    fn a_range_lies_in_a_series_or_not() {
        let series = b"\x80ab\0";
        let within = |from: &[u8], to: &[u8]| series_of(from, to).is_some();
        assert_eq!(
            series_of(b"\x80ab\0\x01", b"\x80ab\0\x02"),
            Some(&series[..])
        );
        assert!(within(series, b"\x80ab\0\xff\xff"));
        assert!(within(series, b"\x80ab\x01"));
        assert!(!within(series, b"\x80ab\x02"));
        assert!(!within(series, b"\x80ab\x01\0"));
        assert!(!within(series, b"\x80ac\0"));
        assert!(!within(series, b"\x81"));
        assert!(!within(b"\x80", b"\x80ab\0"));
        assert!(
            !within(b"\x01ab\0", b"\x01ab\0\x05"),
            "no series' namespace"
        );
        assert!(!within(b"", b"\xff"));
    }
}
