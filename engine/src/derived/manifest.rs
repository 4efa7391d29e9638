//! The manifest: a small file that names the runs, oldest first, each with its range of events, its layout, and a
//! filter or bounds of its keys. Only the manifest's rename makes a run part of the store.
//!
//! Little-endian: 8 bytes magic, u32 version; for each run: u64 number, u64 length, u8 level, u8 height of the tree,
//! u64 first seq, then the last event (u64 seq, 16 bytes id, u32 segment, u64 offset, u32 length, u32 CRC), u32 page
//! and u32 pages of the tree's root (0 pages: no entries), u64 keys in the filter, u32 page and u32 pages of the
//! filter; if the filter has no pages, u32 number of bytes and the filter itself; u16 number of namespaces; for each
//! namespace, u8 namespace and two u64, the bounds of its keys. The last four bytes are the CRC-32 of all bytes before.
//! A manifest that is damaged, of another version, or whose runs leave a gap counts as a missing manifest.

use super::bounds::{Bound, Bounds};
use super::filter::Filter;
use super::page::Pointer;
use super::shape::Shape;
use super::store::{Anchor, RunMeta};
use crate::prelude::*;

pub const NAME: &str = "manifest";
/// Largest size of a manifest.
pub const BYTES_MAX: u64 = 1 << 20;
const MAGIC: [u8; 8] = *b"\x1eTLRUNS\n";
/// Version of the whole store. A store of another version is not read, but rebuilt from the log.
pub const VERSION: u32 = 2;

/// A run in the manifest.
pub type ManifestRun = (RunMeta, Shape);

pub fn encode<'a>(runs: impl Iterator<Item = (&'a RunMeta, &'a Shape)>) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend(VERSION.to_le_bytes());
    for (meta, shape) in runs {
        encode_meta(meta, shape.height, &mut out);
        encode_shape(shape, &mut out);
    }
    let crc = crc32fast::hash(&out);
    out.extend(crc.to_le_bytes());
    out
}

fn encode_meta(run: &RunMeta, height: u8, out: &mut Vec<u8>) {
    let number = number_of(&run.name).unwrap_or_default();
    out.extend(number.to_le_bytes());
    out.extend(run.len.to_le_bytes());
    out.extend([run.level, height]);
    out.extend(run.first_seq.to_le_bytes());
    out.extend(run.last.seq.to_le_bytes());
    out.extend(run.last.id.bytes());
    out.extend(run.last.place.segment.to_le_bytes());
    out.extend(run.last.place.offset.to_le_bytes());
    out.extend(run.last.place.len.to_le_bytes());
    out.extend(run.last.crc.to_le_bytes());
}

fn encode_shape(shape: &Shape, out: &mut Vec<u8>) {
    let pointer = |at: Pointer, out: &mut Vec<u8>| {
        out.extend(at.page.to_le_bytes());
        out.extend(at.pages.to_le_bytes());
    };
    pointer(shape.root, out);
    out.extend(shape.filter_keys.to_le_bytes());
    match &shape.filter {
        Filter::Paged(at) => pointer(*at, out),
        Filter::Named(bits) => {
            pointer(Pointer { page: 0, pages: 0 }, out);
            out.extend((bits.len() as u32).to_le_bytes());
            out.extend_from_slice(bits);
        }
    }
    let bounds = shape.bounds.each();
    out.extend((bounds.len() as u16).to_le_bytes());
    for bound in bounds {
        out.push(bound.namespace);
        out.extend(bound.low.to_le_bytes());
        out.extend(bound.high.to_le_bytes());
    }
}

/// Decodes the runs of a manifest; `None` if the manifest is not valid.
pub fn decode(bytes: &[u8]) -> Option<Vec<ManifestRun>> {
    let (body, crc) = bytes.split_last_chunk()?;
    if crc32fast::hash(body) != u32::from_le_bytes(*crc) {
        return None;
    }
    let mut fields = Fields(body);
    if fields.take()? != MAGIC || fields.u32()? != VERSION {
        return None;
    }
    let mut runs: Vec<ManifestRun> = Vec::new();
    while !fields.0.is_empty() {
        let run = fields.run()?;
        let next = match runs.last() {
            Some((before, _)) => before.last.seq.checked_add(1)?,
            None => 1,
        };
        if run.0.first_seq != next {
            return None;
        }
        runs.push(run);
    }
    Some(runs)
}

/// Reads fields of fixed width in order.
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
    fn run(&mut self) -> Option<ManifestRun> {
        let name = run_name(self.u64()?);
        let len = self.u64()?;
        let [level, height] = self.take()?;
        let meta = RunMeta {
            name,
            len,
            level,
            first_seq: self.u64()?,
            last: Anchor {
                seq: self.u64()?,
                id: EventId::from_bytes(self.take()?)?,
                place: Place {
                    segment: self.u32()?,
                    offset: self.u64()?,
                    len: self.u32()?,
                },
                crc: self.u32()?,
            },
        };
        let shape = Shape {
            height,
            root: self.pointer()?,
            filter_keys: self.u64()?,
            filter: self.filter()?,
            bounds: self.bounds()?,
        };
        let events = meta.last.seq.checked_sub(meta.first_seq)?.checked_add(1)?;
        shape.fits(len, events).then_some((meta, shape))
    }
    fn filter(&mut self) -> Option<Filter> {
        let at = self.pointer()?;
        if at.pages > 0 {
            return Some(Filter::Paged(at));
        }
        let len = self.u32()? as usize;
        let (bits, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(Filter::Named(bits.into()))
    }
    fn bounds(&mut self) -> Option<Bounds> {
        let count = u16::from_le_bytes(self.take()?);
        let bound = |_| {
            let [namespace] = self.take()?;
            Some(Bound {
                namespace,
                low: self.u64()?,
                high: self.u64()?,
            })
        };
        Bounds::new((0..count).map(bound).collect::<Option<_>>()?)
    }
}

pub fn run_name(number: u64) -> String {
    format!("{number:08}.run")
}

pub fn number_of(name: &str) -> Option<u64> {
    let number = name.strip_suffix(".run")?.parse().ok()?;
    (run_name(number) == name).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::super::page::PAGE;
    use super::*;
    use crate::timestamp::Timestamp;

    fn run(first_seq: u64, last: u64) -> ManifestRun {
        let meta = RunMeta {
            name: run_name(first_seq),
            len: 4 * PAGE as u64,
            first_seq,
            last: Anchor {
                seq: last,
                id: EventId::new(Timestamp::from_micros(1_700_000_000_000_000).unwrap(), last),
                place: Place {
                    segment: 3,
                    offset: 1 << 33,
                    len: 400,
                },
                crc: 0xab,
            },
            level: 2,
        };
        let mut bounds = Bounds::default();
        bounds.add(b"\x01a");
        bounds.add(b"\x80z");
        let shape = Shape {
            height: 1,
            root: Pointer { page: 2, pages: 1 },
            filter: match first_seq {
                8 => Filter::Paged(Pointer { page: 3, pages: 1 }),
                _ => Filter::Named(Box::new([1, 2, 3])),
            },
            filter_keys: 5,
            bounds,
        };
        (meta, shape)
    }

    fn encoded(runs: &[ManifestRun]) -> Vec<u8> {
        encode(runs.iter().map(|(meta, shape)| (meta, shape)))
    }

    #[test]
    fn reads_what_it_writes() {
        for runs in [
            vec![],
            vec![run(1, 7)],
            vec![run(1, 7), run(8, 8), run(9, 500)],
        ] {
            assert_eq!(decode(&encoded(&runs)), Some(runs));
        }
        assert_eq!(number_of(&run_name(u64::MAX)), Some(u64::MAX));
        for name in ["../1.run", "1.run", "00000001", "00000001.runs", ""] {
            assert_eq!(number_of(name), None, "{name}");
        }
    }

    #[test]
    fn a_gap_or_an_overlap_counts_as_none() {
        for runs in [
            vec![run(2, 7)],
            vec![run(1, 7), run(9, 9)],
            vec![run(1, 7), run(7, 9)],
            vec![run(1, 0)],
            vec![run(1, u64::MAX), run(1, 2)],
        ] {
            assert_eq!(decode(&encoded(&runs)), None, "{runs:?}");
        }
    }

    #[test]
    fn parts_that_do_not_fit_the_file_count_as_none() {
        let spoilt: [fn(&mut ManifestRun); 8] = [
            |run| run.0.len += PAGE as u64,
            |run| run.0.len += 1,
            |run| run.0.last.seq = 4_000,
            |run| run.1.height = 9,
            |run| run.1.root.pages = 2,
            |run| run.1.root.page = u32::MAX,
            |run| run.1.root.page = 0,
            |run| {
                run.1.filter = Filter::Paged(Pointer {
                    page: 3,
                    pages: u32::MAX,
                });
            },
        ];
        for (at, spoil) in spoilt.iter().enumerate() {
            // The filter of the second run is in the run's file.
            let mut runs = [run(1, 7), run(8, 9)];
            spoil(&mut runs[1]);
            assert_eq!(decode(&encoded(&runs)), None, "{at}");
        }
    }

    #[test]
    fn bytes_without_meaning_count_as_none() {
        let sound = encoded(&[run(1, 7)]);
        for bytes in [
            &[][..],
            &sound[1..],
            &sound[..sound.len() - 1],
            &[0xff; 100],
        ] {
            assert_eq!(decode(bytes), None);
        }
        // The bytes are valid, except for errors that a CRC does not show.
        let body = &sound[..sound.len() - 4];
        let sealed = |body: &[u8]| [body, &crc32fast::hash(body).to_le_bytes()].concat();
        assert!(decode(&sealed(body)).is_some());
        for end in 12 + 1..body.len() {
            assert_eq!(decode(&sealed(&body[..end])), None, "{end}");
        }
        for (at, byte) in [(0, b'x'), (8, 1), (8, 3)] {
            let mut other = body.to_vec();
            other[at] = byte;
            assert_eq!(decode(&sealed(&other)), None);
        }
    }
}
