//! Tests of bytes that are not frames: none causes a panic, and none is accepted.

use super::events::{FORMATS, alone, bare, event, full};
use crate::support::*;
use proptest::prelude::*;
use teamlog_engine::Event;
use teamlog_engine::internals::codec::{
    FrameError, decode, envelope, extent, next_candidate, parse_public_json,
};

fn read_all(format: Format, bytes: &[u8]) -> bool {
    let decoded = decode(format, bytes);
    let _ = extent(format, bytes);
    let _ = SegmentHeader::decode(format, bytes);
    if let Ok(frame) = &decoded {
        assert!(frame.len <= bytes.len());
        // An accepted frame equals the encoder's output for its event.
        let mut again = Vec::new();
        teamlog_engine::internals::codec::encode_body(format, &frame.event, &mut again);
        let mut sealed = Vec::new();
        teamlog_engine::internals::codec::seal(format, &again, frame.group, &mut sealed);
        assert_eq!(sealed, &bytes[..frame.len]);
        assert!(envelope(format, bytes).is_ok());
    }
    decoded.is_ok() || envelope(format, bytes).is_ok()
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_no_frame(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        for format in FORMATS {
            prop_assert!(!read_all(format, &bytes));
            next_candidate(format, &bytes, 7);
        }
        if let Ok(text) = std::str::from_utf8(&bytes) {
            prop_assert!(parse_public_json(text).is_err());
        }
    }

    #[test]
    fn arbitrary_text_never_panics(text in any::<String>(), jsonish in "[\\[\\]{}\",:\\\\u0-9a-f eE.+-]{0,40}") {
        for text in [text, jsonish] {
            let _ = parse_public_json(&text);
            if let Ok(json) = Json::parse(&text) {
                prop_assert_eq!(Json::parse(json.as_str()), Ok(json.clone()));
                prop_assert!(serde_json::from_str::<&serde_json::value::RawValue>(json.as_str()).is_ok());
            }
        }
    }

    /// Some bytes are changed and the checksum is corrected. If the frame is accepted, the frame equals the encoder's output
    /// for its event.
    #[test]
    fn changed_frames_with_right_checksums_are_still_checked(
        event in event(), at in any::<proptest::sample::Index>(), byte in any::<u8>(), cut in any::<bool>(),
    ) {
        for format in FORMATS {
            let mut bytes = alone(format, &event);
            let at = at.index(bytes.len());
            if cut { bytes.remove(at); } else { bytes[at] = byte; }
            let _ = read_all(format, &bytes);
            let _ = read_all(format, &with_right_checksum(format, bytes));
        }
    }
}

/// Returns the bytes with a correct length and checksum.
fn with_right_checksum(format: Format, mut bytes: Vec<u8>) -> Vec<u8> {
    match format {
        Format::Jsonl => {
            let Some(body) = bytes.len().checked_sub(19) else {
                return bytes;
            };
            bytes.truncate(body);
            let crc = crc32fast::hash(&bytes);
            bytes.extend_from_slice(format!(",\"crc\":\"{crc:08x}\"}}\n").as_bytes());
        }
        Format::Binary => {
            let Some(body) = bytes.len().checked_sub(12) else {
                return bytes;
            };
            bytes[..4].copy_from_slice(b"\x1eTLE");
            bytes[4..8].copy_from_slice(&(body as u32).to_le_bytes());
            let mut hasher = crc32fast::Hasher::new();
            hasher.update(&bytes[4..8]);
            hasher.update(&bytes[12..]);
            bytes[8..12].copy_from_slice(&hasher.finalize().to_le_bytes());
        }
    }
    bytes
}

fn golden(format: Format) -> Vec<Vec<u8>> {
    let mut group = Vec::new();
    let lengths = encode_group(format, &[full(3), bare(4)], &mut group);
    let second = group.split_off(lengths[0] as usize);
    vec![
        alone(format, &bare(1)),
        alone(format, &full(2)),
        group,
        second,
    ]
}

#[test]
fn every_flipped_bit_is_seen() {
    for format in FORMATS {
        for frame in golden(format) {
            // A second frame follows, so that the search for a lost newline finds the newline of that frame.
            let mut bytes = [&frame[..], &frame[..]].concat();
            for bit in 0..frame.len() * 8 {
                bytes[bit / 8] ^= 1 << (bit % 8);
                assert!(decode(format, &bytes).is_err(), "{format:?} bit {bit}");
                assert!(envelope(format, &bytes).is_err(), "{format:?} bit {bit}");
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }
}

#[test]
fn every_cut_is_incomplete() {
    for format in FORMATS {
        for frame in golden(format) {
            for len in 0..frame.len() {
                let cut = &frame[..len];
                assert_eq!(
                    decode(format, cut),
                    Err(FrameError::Incomplete),
                    "{format:?} {len}"
                );
                assert_eq!(
                    envelope(format, cut),
                    Err(FrameError::Incomplete),
                    "{format:?} {len}"
                );
                let zeros = [cut, &vec![0; frame.len() - len]].concat();
                assert!(decode(format, &zeros).is_err(), "{format:?} {len}");
            }
        }
    }
}

/// The lines have correct checksums, but no writer would write them.
#[test]
fn only_the_one_way_of_writing_is_read() {
    let line = String::from_utf8(alone(Format::Jsonl, &full(2))).unwrap();
    for (from, to) in [
        ("{\"seq\":2", "{ \"seq\":2"),
        ("\"seq\":2", "\"seq\":02"),
        ("\"seq\":2", "\"seq\":0"),
        ("\"seq\":2", "\"seq\":18446744073709551616"),
        ("\"seq\":2", "\"seq\":\"2\""),
        ("01a1fd8c-6900", "01A1FD8C-6900"),
        ("-7004-", "-7005-"),
        ("00.000001Z", "00.000002Z"),
        ("00.000001Z", "00.000001z"),
        ("\"note\"", "\"Note\""),
        ("\"note\"", "\"\""),
        ("\"note\"", "\"no\\u0074e\""),
        ("\"trace-1\"", "\"\""),
        ("\"trace-1\"", "\"trace\\u002d1\""),
        ("\"trace-1\"", "\"trace\\/1\""),
        ("\"trace-1\"", "\"trace\u{7f}1\""),
        ("\"trace-1\"", "\"trace\u{85}1\""),
        ("\"trace-1\"", &format!("\"{}\"", "x".repeat(129))),
        (
            "\"trace_id\":\"trace-1\",\"task_id\":\"7\"",
            "\"task_id\":\"7\",\"trace_id\":\"trace-1\"",
        ),
        ("\"foreign\":true", "\"foreign\":false"),
        ("\"foreign\":true,", "\"foreign\":true,\"foreign\":true,"),
        (
            ",\"schema_version\":4294967295",
            ",\"schema_version\":4294967296",
        ),
        (",\"schema_version\":4294967295", ""),
        ("\"actor\":", "\"actor2\":"),
        (",\"payload\":{", ",\"payload\": {"),
        (",\"payload\":{", ",\"payload\":"),
        ("{\"c\":{}}}", "{\"c\":{}}"),
        ("{\"c\":{}}}", "{\"c\":{}}}}"),
        ("{\"c\":{}}}", "{\"c\":{}}},\"more\":1"),
        ("{\"c\":{}}}", "{\"c\":{}}},\"group\":[0,1]"),
        ("{\"c\":{}}}", "{\"c\":{}}},\"group\":[2,2]"),
        ("{\"c\":{}}}", "{\"c\":{}}},\"group\":[01,2]"),
        ("{\"c\":{}}}", "{\"c\":{}}},\"group\":[0,4294967296]"),
        ("{\"c\":{}}}", "{\"c\":{}}},\"group\":[,2]"),
    ] {
        let broken = line.replacen(from, to, 1);
        assert_ne!(broken, line, "{from} occurs");
        let broken = with_right_checksum(Format::Jsonl, broken.into_bytes());
        assert!(
            matches!(decode(Format::Jsonl, &broken), Err(FrameError::Damaged(_))),
            "{to}"
        );
    }
    let right = line.replacen("{\"c\":{}}}", "{\"c\":{}}},\"group\":[1,2]", 1);
    assert!(
        decode(
            Format::Jsonl,
            &with_right_checksum(Format::Jsonl, right.into_bytes())
        )
        .is_ok()
    );
}

#[test]
fn tails_are_read_byte_by_byte() {
    let line = alone(Format::Jsonl, &bare(1));
    let upper = String::from_utf8(line.clone()).unwrap();
    let digits = line.len() - 11..line.len() - 3;
    let upper = upper[..digits.start].to_owned()
        + &upper[digits.clone()].to_uppercase()
        + &upper[digits.end..];
    if upper.as_bytes() != line {
        assert!(decode(Format::Jsonl, upper.as_bytes()).is_err());
    }
    for broken in [&b"\"}\r\n"[..], b"\" }\n", b"\"}}\n", b"\n"] {
        let bytes = [&line[..line.len() - 3], broken].concat();
        assert!(matches!(
            decode(Format::Jsonl, &bytes),
            Err(FrameError::Damaged(_))
        ));
    }
}

#[test]
fn binary_fields_are_checked_behind_a_right_checksum() {
    let frame = alone(Format::Binary, &full(2));
    let body = 12;
    for (what, at, byte) in [
        ("seq 0", body, 0),
        ("version of the id", body + 14, 0x40),
        ("time of the id", body + 24, 0xFF),
        ("group of none", body + 36, 0),
        ("index past the group", body + 32, 7),
        ("reserved flag", body + 45, 0x03),
        ("flag of a ref that is not there", body + 44, 0xFE),
        ("kind of other letters", body + 47, b'N'),
        ("length of a ref", body + 51, 200),
        ("control character", body + 52, 0x1E),
        ("not UTF-8", body + 52, 0xFF),
    ] {
        let mut broken = frame.clone();
        assert_ne!(broken[at], byte, "{what}");
        broken[at] = byte;
        let broken = with_right_checksum(Format::Binary, broken);
        // This byte differs from the frame's byte only in the foreign mark, so the changed frame is valid.
        if what != "flag of a ref that is not there" {
            assert!(
                matches!(decode(Format::Binary, &broken), Err(FrameError::Damaged(_))),
                "{what}"
            );
        }
    }
    let longer = with_right_checksum(Format::Binary, [&frame[..], b"}"].concat());
    assert!(matches!(
        decode(Format::Binary, &longer),
        Err(FrameError::Damaged(_))
    ));
    let huge = [b"\x1eTLE".as_slice(), &u32::MAX.to_le_bytes(), &[0; 100]].concat();
    assert!(matches!(
        decode(Format::Binary, &huge),
        Err(FrameError::Damaged(_))
    ));
}

#[test]
fn bytes_that_cannot_become_a_frame_are_damaged_at_once() {
    for format in FORMATS {
        assert_eq!(decode(format, b""), Err(FrameError::Incomplete));
        for bytes in [&b"\0"[..], &[0; 4096], b"\n", b"x"] {
            assert!(
                matches!(decode(format, bytes), Err(FrameError::Damaged(_))),
                "{format:?} {bytes:?}"
            );
        }
    }
    let endless = [b"{\"seq\":".as_slice(), &vec![b'1'; 2 << 20]].concat();
    assert!(matches!(
        decode(Format::Jsonl, &endless),
        Err(FrameError::Damaged(_))
    ));
}

/// Returns payloads that contain a stored line: as an object, inside an array, deep inside an object, as a string, and between
/// newlines.
fn smuggled() -> Vec<String> {
    let line = String::from_utf8(alone(Format::Jsonl, &bare(1))).unwrap();
    let object = line.trim_end();
    let text = Json::from_value(&line).unwrap();
    let binary =
        Json::from_value(&String::from_utf8_lossy(&alone(Format::Binary, &bare(1)))).unwrap();
    vec![
        object.to_owned(),
        format!("[{object}]"),
        format!("{{\"a\":[1,{object}],\"b\":2}}"),
        text.as_str().to_owned(),
        format!("[{}]", binary.as_str()),
        Json::from_value(&format!("\n{line}\n"))
            .unwrap()
            .as_str()
            .to_owned(),
    ]
}

#[test]
fn content_that_holds_a_frame_is_not_taken_for_one() {
    for format in FORMATS {
        for payload in smuggled() {
            let event = given!(Event, payload: payload.clone(), ..full(2));
            let bytes = alone(format, &event);
            assert_eq!(
                decode(format, &bytes).map(|frame| frame.event),
                Ok(event),
                "the frame itself"
            );
            let mut at = 1;
            while let Some(candidate) = next_candidate(format, &bytes, at) {
                assert!(
                    decode(format, &bytes[candidate..]).is_err(),
                    "{format:?} {payload}"
                );
                at = candidate + 1;
            }
        }
    }
}

/// The checksum does not detect these payloads, because the inner line ends with the checksum that the outer line needs.
#[test]
fn a_frame_within_a_payload_is_refused_even_if_its_checksum_matches() {
    for payload in ["{}", "[]", "{\"x\":[{}]}"] {
        let inner =
            String::from_utf8(alone(Format::Jsonl, &given!(Event, payload, ..bare(1)))).unwrap();
        let inner = inner.trim_end();
        for outer_rest in ["", "]", "}", ",\"b\":2}", "],\"b\":{\"c\":1}}"] {
            for group in ["", ",\"group\":[0,2]"] {
                let body = format!("{inner}{outer_rest}{group}").into_bytes();
                let crc = crc32fast::hash(&body);
                let line = [&body[..], format!(",\"crc\":\"{crc:08x}\"}}\n").as_bytes()].concat();
                assert!(
                    matches!(decode(Format::Jsonl, &line), Err(FrameError::Damaged(_))),
                    "{payload} {outer_rest}"
                );
            }
        }
    }
}

#[test]
fn candidates_are_found_behind_anything() {
    for format in FORMATS {
        let frame = alone(format, &full(2));
        for before in [
            &b""[..],
            b"\0\0\0\0",
            b"{\"seq\":1,\"id",
            b"\x1eTL",
            b"{\"seq\"",
            b"\n\n",
            b"\x1eTLE\x1eTL",
        ] {
            let bytes = [before, &frame].concat();
            let mut at = 0;
            let found = loop {
                let candidate = next_candidate(format, &bytes, at).expect("the frame is found");
                if decode(format, &bytes[candidate..]).is_ok() {
                    break candidate;
                }
                at = candidate + 1;
            };
            assert_eq!(found, before.len(), "{format:?} behind {before:?}");
        }
        assert_eq!(next_candidate(format, &frame, frame.len() + 1), None);
        assert_eq!(next_candidate(format, b"", 0), None);
    }
}
