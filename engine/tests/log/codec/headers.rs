//! Segment headers: round trips, damage, and future versions.

use super::events::{FORMATS, identifier};
use proptest::prelude::*;
use teamlog_engine::Format;
use teamlog_engine::internals::codec::{FrameError, Predecessor, SegmentHeader};

prop_compose! {
    fn header()(
        log in any::<[u8; 16]>(),
        name in identifier(),
        number in 1..=u32::MAX,
        first_seq in 1..=u64::MAX,
        previous in proptest::option::of((identifier(), any::<u64>(), any::<[u8; 32]>())),
    ) -> SegmentHeader {
        let previous = previous.map(|(name, len, digest)| Predecessor { name: name.into_owned(), len, digest });
        SegmentHeader { version: 1, log, name: name.into_owned(), number, first_seq, previous }
    }
}

proptest! {
    #[test]
    fn headers_round_trip(header in header()) {
        for format in FORMATS {
            let mut bytes = header.encode(format);
            let len = bytes.len();
            bytes.extend_from_slice(b"what follows");
            prop_assert_eq!(SegmentHeader::decode(format, &bytes), Ok((header.clone(), len)));
            if format == Format::Jsonl {
                let line: serde_json::Value = serde_json::from_slice(&bytes[..len]).unwrap();
                prop_assert_eq!(line["teamlog"]["team"].as_str(), Some(&*header.name));
            }
        }
    }
}

fn example() -> SegmentHeader {
    let previous = given!(Predecessor; name: "2026-11-20.x001.jsonl", len: 67_108_000,
        digest: [0xA5; 32]);
    given!(SegmentHeader; version: 1, log: [7; 16], name: "demo", number: 3, first_seq: 1000,
        previous)
}

#[test]
fn every_flipped_bit_and_every_cut_is_seen() {
    for header in [
        example(),
        given!(SegmentHeader, previous: None, ..example()),
    ] {
        for format in FORMATS {
            let mut bytes = header.encode(format);
            for bit in 0..bytes.len() * 8 {
                bytes[bit / 8] ^= 1 << (bit % 8);
                assert!(
                    SegmentHeader::decode(format, &bytes).is_err(),
                    "{format:?} bit {bit}"
                );
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
            for len in 0..bytes.len() {
                let cut = SegmentHeader::decode(format, &bytes[..len]);
                assert_eq!(cut, Err(FrameError::Incomplete), "{format:?} {len}");
            }
        }
    }
}

#[test]
fn newer_versions_are_told_apart_from_damage_whatever_else_they_hold() {
    for version in [3, 10, u32::MAX] {
        let jsonl =
            format!("{{\"teamlog\":{{\"format\":\"jsonl\",\"version\":{version},\"whatever\":");
        let binary = [b"\x1eTLOGSEG".as_slice(), &version.to_le_bytes()].concat();
        for (format, bytes) in [(Format::Jsonl, jsonl.as_bytes()), (Format::Binary, &binary)] {
            assert_eq!(
                SegmentHeader::decode(format, bytes),
                Err(FrameError::Newer(version))
            );
        }
        for format in FORMATS {
            let bytes = given!(SegmentHeader, version, ..example()).encode(format);
            assert_eq!(
                SegmentHeader::decode(format, &bytes),
                Err(FrameError::Newer(version))
            );
        }
    }
}

#[test]
fn numbers_from_zero_are_refused() {
    for format in FORMATS {
        for header in [
            given!(SegmentHeader, version: 0, ..example()),
            given!(SegmentHeader, number: 0, ..example()),
            given!(SegmentHeader, first_seq: 0, ..example()),
            given!(SegmentHeader, name: String::new(), ..example()),
        ] {
            let bytes = header.encode(format);
            assert!(
                matches!(
                    SegmentHeader::decode(format, &bytes),
                    Err(FrameError::Damaged(_))
                ),
                "{header:?}"
            );
        }
    }
}

#[test]
fn one_format_is_not_the_other() {
    let (jsonl, binary) = (
        example().encode(Format::Jsonl),
        example().encode(Format::Binary),
    );
    assert!(matches!(
        SegmentHeader::decode(Format::Binary, &jsonl),
        Err(FrameError::Damaged(_))
    ));
    assert!(matches!(
        SegmentHeader::decode(Format::Jsonl, &binary),
        Err(FrameError::Damaged(_))
    ));
}
