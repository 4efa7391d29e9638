//! Tests that encoded events decode to the same events, in both formats.

use super::events::{FORMATS, alone, bare, event, full, part};
use crate::support::*;
use proptest::prelude::*;
use std::borrow::Cow;
use teamlog_engine::Event;
use teamlog_engine::internals::codec::{
    canonical_len, decode, decode_known, encode_body, envelope, extent, group_len, next_candidate,
    parse_public_json, public_json, seal, split,
};

fn public(event: &Event<'_>) -> String {
    let mut out = Vec::new();
    public_json(event, &mut out);
    String::from_utf8(out).unwrap()
}

proptest! {
    #[test]
    fn frames_are_split_where_one_ends(events in proptest::collection::vec(event(), 1..5)) {
        for format in FORMATS {
            let mut out = Vec::new();
            let mut ends: Vec<usize> = Vec::new();
            for len in encode_group(format, &events, &mut out) {
                ends.push(ends.last().unwrap_or(&0) + len as usize);
            }
            for about in 0..out.len() + 3 {
                let end = ends.iter().copied().find(|end| *end >= about).unwrap_or(out.len());
                prop_assert_eq!(split(format, &out, about), Ok(end), "{:?} {}", format, about);
            }
            // The piece contains the damaged frame; only decoding finds the damage.
            out[30] ^= 1;
            prop_assert_eq!(split(format, &out, ends[0]), Ok(ends[0]));
        }
    }
    #[test]
    fn groups_round_trip(events in proptest::collection::vec(event(), 1..5)) {
        for format in FORMATS {
            let mut out = b"before".to_vec();
            let lengths = encode_group(format, &events, &mut out);
            prop_assert_eq!(lengths.len(), events.len());
            let mut at = 6;
            for (index, (event, len)) in events.iter().zip(lengths).enumerate() {
                let frame = decode(format, &out[at..]).unwrap();
                prop_assert_eq!(decode_known(format, &out[at..]), Ok(frame.clone()));
                let part = part(index as u32, events.len() as u32);
                prop_assert_eq!((&frame.event, frame.group, frame.len), (event, part, len as usize));
                let envelope = envelope(format, &out[at..]).unwrap();
                prop_assert_eq!((envelope.seq, envelope.id, envelope.kind), (event.seq, event.id, &*event.kind));
                prop_assert_eq!((envelope.payload, envelope.group), (event.payload.as_bytes(), part));
                prop_assert_eq!(envelope.len, frame.len);
                prop_assert_eq!(extent(format, &out[at..]), Ok(frame.len));
                prop_assert_eq!(next_candidate(format, &out, at), Some(at));
                at += frame.len;
            }
            prop_assert_eq!(at, out.len());
            let canonical = events.iter().map(canonical_len).sum();
            prop_assert_eq!(group_len(format, &events, canonical), at - 6);
        }
    }

    #[test]
    fn both_formats_mean_the_same(event in event()) {
        let [jsonl, binary] = FORMATS.map(|format| {
            let bytes = alone(format, &event);
            public(&decode(format, &bytes).unwrap().event)
        });
        prop_assert_eq!(&jsonl, &binary);
        prop_assert_eq!(jsonl.len(), canonical_len(&event));
        let parsed: serde_json::Value = serde_json::from_str(&jsonl).unwrap();
        prop_assert_eq!(parsed["actor"].as_str(), Some(&*event.actor));
        prop_assert_eq!(parsed["seq"].as_u64(), Some(event.seq));
    }

    #[test]
    fn exported_lines_read_back(event in event(), rotate in 0_usize..20) {
        let line = public(&event);
        prop_assert_eq!(parse_public_json(&line), Ok(event.clone()));
        // Write the fields in another order, with whitespace between them.
        let members: Vec<(String, Box<serde_json::value::RawValue>)> = members(&line);
        let mut texts: Vec<String> = members.iter().map(|(name, value)| format!(" \"{name}\" : {value}\t")).collect();
        let middle = rotate % texts.len();
        texts.rotate_left(middle);
        prop_assert_eq!(parse_public_json(&format!("{{{}}} ", texts.join(","))), Ok(event));
    }

    #[test]
    fn a_body_sealed_later_is_the_same_frame(event in event(), len in 1_u32..9, index in 0_u32..9) {
        let index = index % len;
        for format in FORMATS {
            let events: Vec<_> = (0..len).map(|_| event.clone()).collect();
            let mut together = Vec::new();
            let lengths = encode_group(format, &events, &mut together);
            let start: u32 = lengths.iter().take(index as usize).sum();
            let mut body = Vec::new();
            encode_body(format, &event, &mut body);
            let mut sealed = b"x".to_vec();
            prop_assert_eq!(seal(format, &body, part(index, len), &mut sealed), lengths[index as usize]);
            prop_assert_eq!(&sealed[1..], &together[start as usize..][..lengths[index as usize] as usize]);
        }
    }
}

/// Returns the members of an object in their order. Uses a parser other than the engine's parser.
fn members(line: &str) -> Vec<(String, Box<serde_json::value::RawValue>)> {
    struct InOrder(Vec<(String, Box<serde_json::value::RawValue>)>);
    impl<'de> serde::Deserialize<'de> for InOrder {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Visitor;
            impl<'de> serde::de::Visitor<'de> for Visitor {
                type Value = InOrder;
                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("an object")
                }
                fn visit_map<A: serde::de::MapAccess<'de>>(
                    self,
                    mut map: A,
                ) -> Result<InOrder, A::Error> {
                    let mut members = Vec::new();
                    while let Some(member) = map.next_entry()? {
                        members.push(member);
                    }
                    Ok(InOrder(members))
                }
            }
            deserializer.deserialize_map(Visitor)
        }
    }
    serde_json::from_str::<InOrder>(line).unwrap().0
}

#[test]
fn strings_without_escapes_are_borrowed() {
    for format in FORMATS {
        let bytes = alone(format, &full(1));
        let event = decode(format, &bytes).unwrap().event;
        let owned: Vec<_> = event
            .refs
            .names
            .iter()
            .flatten()
            .filter(|name| matches!(name, Cow::Owned(_)))
            .collect();
        // Two of the payloads have escapes, in `jsonl` only.
        assert_eq!(
            owned.len(),
            if format == Format::Jsonl { 2 } else { 0 },
            "{owned:?}"
        );
        for text in [&event.kind, &event.actor, &event.payload] {
            assert!(matches!(text, Cow::Borrowed(_)), "{text}");
        }
    }
}

#[test]
fn the_payload_may_be_any_value_and_of_any_allowed_depth() {
    let deep = "[".repeat(64) + &"]".repeat(64);
    for payload in [
        "{}",
        "[]",
        "[0,3]",
        "[[0,3],[1,2]]",
        "\"\"",
        "0",
        "-1e5",
        "true",
        "null",
        r#"{"group":[0,3]}"#,
        &deep,
    ] {
        let event = given!(Event, payload, ..bare(1));
        for format in FORMATS {
            let mut out = Vec::new();
            encode_group(format, &[event.clone(), event.clone()], &mut out);
            assert_eq!(
                decode(format, &out).map(|frame| frame.event),
                Ok(event.clone()),
                "{format:?}"
            );
            assert_eq!(
                decode(format, &alone(format, &event)).map(|frame| frame.event),
                Ok(event.clone())
            );
        }
        assert_eq!(parse_public_json(&public(&event)), Ok(event));
    }
}

#[test]
fn what_is_refused_in_an_exported_line_is_named() {
    let line = public(&full(2));
    for (from, to, message) in [
        ("\"seq\":2,", "", "seq is missing"),
        (
            "\"seq\":2,",
            "\"seq\":0,",
            "seq must be a whole number from 1, but is 0",
        ),
        (
            "\"seq\":2,",
            "\"seq\":\"2\",",
            "seq must be a whole number from 1, but is \"2\"",
        ),
        (
            "\"seq\":2,",
            "\"seq\":2,\"\\u0073eq\":2,",
            "duplicate key \"seq\" at byte 9",
        ),
        (
            "-7004-",
            "-4004-",
            "id must be a UUIDv7 of a whole microsecond, but is \"01a1fd8c-6900-4004-8000-000000000002\"",
        ),
        (
            "00.000001Z",
            "00.000002Z",
            "created_at must be the time of the id, 2026-11-21T10:00:00.000001Z, but is 2026-11-21T10:00:00.000002Z",
        ),
        (
            "\"note\"",
            "\"Note\"",
            "kind must be a snake_case name of at most 128 bytes, but is \"Note\"",
        ),
        (
            "\"trace-1\"",
            "\"\"",
            "trace_id must be a string of 1 to 128 bytes without control characters, but is \"\"",
        ),
        (
            "\"trace-1\"",
            "null",
            "trace_id must be a string of 1 to 128 bytes without control characters, but is null",
        ),
        (
            "4294967295",
            "4294967296",
            "schema_version must be a whole number below 2^32, but is 4294967296",
        ),
        (
            "\"foreign\":true",
            "\"foreign\":1",
            "foreign must be true or false, but is 1",
        ),
        (
            "\"foreign\":true",
            "\"group\":[1,2]",
            "group is not a field of an exported event",
        ),
    ] {
        let broken = line.replacen(from, to, 1);
        assert_ne!(broken, line, "{from} occurs");
        assert_eq!(parse_public_json(&broken), Err(message.to_owned()));
    }
    assert_eq!(
        parse_public_json("[1]"),
        Err("an event must be a JSON object, but is [1]".to_owned())
    );
    assert_eq!(parse_public_json("{}"), Err("id is missing".to_owned()));
}

#[test]
fn json_of_a_value_is_canonical() {
    #[derive(serde::Serialize)]
    struct Value {
        b: &'static str,
        a: Vec<u8>,
    }
    let json = Json::from_value(&given!(Value; b: "x\u{1}/\u{7f}", a: vec![1, 2])).unwrap();
    assert_eq!(json.as_str(), "{\"b\":\"x\\u0001/\u{7f}\",\"a\":[1,2]}");
}

#[test]
fn the_bytes_of_a_group_are_known_before_it_is_encoded_however_many_digits_its_places_have() {
    for format in FORMATS {
        for count in [1, 2, 9, 10, 11, 99, 100, 101, 1001] {
            let events = vec![full(1); count];
            let mut out = Vec::new();
            encode_group(format, &events, &mut out);
            let canonical = events.iter().map(canonical_len).sum();
            assert_eq!(group_len(format, &events, canonical), out.len(), "{count}");
        }
    }
}
