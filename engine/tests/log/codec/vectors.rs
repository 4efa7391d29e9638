//! Tests with frames and headers that were written by hand, so that every change of the formats is noticed. Their checksums were
//! computed with another implementation of CRC-32 (`zlib`).

use super::events::{alone, bare, full, part};
use crate::support::*;
use teamlog_engine::internals::codec::{Frame, Predecessor, canonical_len, decode, public_json};

const BARE_LINE: &str = concat!(
    r#"{"seq":1,"id":"01a1fd8c-6900-7004-8000-000000000001","created_at":"2026-11-21T10:00:00.000001Z","#,
    r#""kind":"note","actor":"ann","schema_version":1,"payload":{},"crc":"3ad76444"}"#,
    "\n"
);

const FULL_LINE: &str = concat!(
    r#"{"seq":2,"id":"01a1fd8c-6900-7004-8000-000000000002","created_at":"2026-11-21T10:00:00.000001Z","#,
    r#""kind":"note","actor":"ann 😀","trace_id":"trace-1","task_id":"7","agent":"worker \"two\"","#,
    r#""message_id":"m\\1","thread_id":"Gespräch ☂","session_id":"s-1","#,
    r#""cause":"01a1fd8c-68ff-7ffb-8000-000000000001","key":"key/1","schema_version":4294967295,"foreign":true,"#,
    r#""payload":{"a":[1,-0.5e3,"x\n\u0001\"",null,true],"b":{"c":{}}},"group":[1,2],"crc":"d081bd00"}"#,
    "\n"
);

const BARE_FRAME: &[&str] = &[
    "1e 54 4c 45 | 3d 00 00 00 | 5e b6 7f a9", // magic, body length, checksum
    "01 00 00 00 00 00 00 00",                 // seq
    "01 a1 fd 8c 69 00 70 04 80 00 00 00 00 00 00 01", // id
    "01 28 7a 6c c6 60 06 00",                 // created_at
    "00 00 00 00 | 01 00 00 00 | 01 00 00 00 | 00 00", // group index and length, schema version, flags
    "04 6e 6f 74 65",                                  // kind
    "03 61 6e 6e",                                     // actor
    "02 00 00 00 | 7b 7d",                             // payload
];

const FULL_FRAME: &[&str] = &[
    "1e 54 4c 45 | b8 00 00 00 | e2 ab 6d 26",
    "02 00 00 00 00 00 00 00",
    "01 a1 fd 8c 69 00 70 04 80 00 00 00 00 00 00 02",
    "01 28 7a 6c c6 60 06 00",
    "01 00 00 00 | 02 00 00 00 | ff ff ff ff | ff 01",
    "04 6e 6f 74 65",
    "08 61 6e 6e 20 f0 9f 98 80",
    "07 74 72 61 63 65 2d 31",                         // trace_id
    "01 37",                                           // task_id
    "0c 77 6f 72 6b 65 72 20 22 74 77 6f 22",          // agent
    "03 6d 5c 31",                                     // message_id
    "0d 47 65 73 70 72 c3 a4 63 68 20 e2 98 82",       // thread_id
    "03 73 2d 31",                                     // session_id
    "01 a1 fd 8c 68 ff 7f fb 80 00 00 00 00 00 00 01", // cause
    "05 6b 65 79 2f 31",                               // key
    "35 00 00 00 | 7b 22 61 22 3a 5b 31 2c 2d 30 2e 35 65 33 2c 22 78 5c 6e 5c 75 30 30 30 31 5c 22 22",
    "2c 6e 75 6c 6c 2c 74 72 75 65 5d 2c 22 62 22 3a 7b 22 63 22 3a 7b 7d 7d 7d",
];

fn bytes(hex: &[&str]) -> Vec<u8> {
    let digits: Vec<u32> = hex
        .concat()
        .chars()
        .filter_map(|digit| digit.to_digit(16))
        .collect();
    digits
        .chunks(2)
        .map(|pair| (pair[0] * 16 + pair[1]) as u8)
        .collect()
}

fn check(format: Format, one: &[u8], other: &[u8]) {
    assert_eq!(alone(format, &bare(1)), one, "{format:?}");
    let mut out = Vec::new();
    let lengths = encode_group(format, &[bare(1), full(2)], &mut out);
    assert_eq!(&out[lengths[0] as usize..], other, "{format:?}");
    let frame = |event, group, bytes: &[u8], crc| {
        given!(Frame; event, group,
            len: bytes.len(), crc)
    };
    assert_eq!(
        decode(format, one),
        Ok(frame(bare(1), part(0, 1), one, crc_of(format, one)))
    );
    assert_eq!(
        decode(format, other),
        Ok(frame(full(2), part(1, 2), other, crc_of(format, other)))
    );
}

fn crc_of(format: Format, frame: &[u8]) -> u32 {
    match format {
        Format::Binary => u32::from_le_bytes(frame[8..12].try_into().unwrap()),
        Format::Jsonl => {
            let digits = &frame[frame.len() - 11..frame.len() - 3];
            u32::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap()
        }
    }
}

#[test]
fn jsonl_lines() {
    check(Format::Jsonl, BARE_LINE.as_bytes(), FULL_LINE.as_bytes());
}

#[test]
fn binary_frames() {
    check(Format::Binary, &bytes(BARE_FRAME), &bytes(FULL_FRAME));
}

#[test]
fn public_lines_are_the_stored_ones_without_framing() {
    for (event, line, framing) in [
        (bare(1), BARE_LINE, r#","crc":"3ad76444""#),
        (full(2), FULL_LINE, r#","group":[1,2],"crc":"d081bd00""#),
    ] {
        let mut out = Vec::new();
        public_json(&event, &mut out);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            line.trim_end().replace(framing, "")
        );
        assert_eq!(canonical_len(&event), line.trim_end().len() - framing.len());
    }
}

fn header(number: u32, first_seq: u64, previous: Option<&str>) -> SegmentHeader {
    given!(SegmentHeader; version: 1, log: std::array::from_fn(|at| at as u8), name: "demo",
        number, first_seq,
        previous: previous.map(|name| given!(Predecessor; name, len: 123, digest: std::array::from_fn(|at| at as u8))))
}

#[test]
fn jsonl_headers() {
    let first = concat!(
        r#"{"teamlog":{"format":"jsonl","version":1,"log":"00010203-0405-0607-0809-0a0b0c0d0e0f","team":"demo","#,
        r#""segment":1,"first_seq":1,"previous":null,"crc":"063dafdc"}}"#,
        "\n"
    );
    let second = concat!(
        r#"{"teamlog":{"format":"jsonl","version":1,"log":"00010203-0405-0607-0809-0a0b0c0d0e0f","team":"demo","#,
        r#""segment":2,"first_seq":18446744073709551615,"previous":{"name":"2026-11-21.jsonl","length":123,"#,
        r#""blake3":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"},"crc":"5a95e8d4"}}"#,
        "\n"
    );
    for (header, line) in [
        (header(1, 1, None), first),
        (header(2, u64::MAX, Some("2026-11-21.jsonl")), second),
    ] {
        assert_eq!(
            String::from_utf8(header.encode(Format::Jsonl)).unwrap(),
            line
        );
        assert_eq!(
            SegmentHeader::decode(Format::Jsonl, line.as_bytes()),
            Ok((header, line.len()))
        );
    }
}

#[test]
fn binary_headers() {
    let first = bytes(&[
        "1e 54 4c 4f 47 53 45 47 | 01 00 00 00 | 22 00 00 00 | f0 c4 c5 a7", // magic, version, length, checksum
        "00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f",                   // log
        "01 00 00 00 | 01 00 00 00 00 00 00 00", // segment number, first seq
        "04 64 65 6d 6f | 00",                   // team, no predecessor
    ]);
    let second = bytes(&[
        "1e 54 4c 4f 47 53 45 47 | 01 00 00 00 | 5a 00 00 00 | 5c 8b 7d e7",
        "00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f",
        "02 00 00 00 | ff ff ff ff ff ff ff ff",
        "04 64 65 6d 6f | 01",
        "0f 32 30 32 36 2d 31 31 2d 32 31 2e 74 6c 6f 67", // the predecessor's name
        "7b 00 00 00 00 00 00 00",                         // and length and digest
        "00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d 1e 1f",
    ]);
    for (header, bytes) in [
        (header(1, 1, None), first),
        (header(2, u64::MAX, Some("2026-11-21.tlog")), second),
    ] {
        assert_eq!(header.encode(Format::Binary), bytes);
        assert_eq!(
            SegmentHeader::decode(Format::Binary, &bytes),
            Ok((header, bytes.len()))
        );
    }
}
