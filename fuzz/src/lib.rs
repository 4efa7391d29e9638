//! Checks of arbitrary bytes, with one function for each fuzz target.
//!
//! The fuzzer calls the function under `cargo fuzz run TARGET`. `cargo test` calls it for every file of the target's corpus.
#![forbid(unsafe_code)]

mod frame;

use teamlog_engine::internals::codec::{SegmentHeader, parse_public_json, public_json};
use teamlog_engine::{Format, Json, Timestamp};

/// Reads arbitrary bytes as a binary frame, also with a corrected length and checksum.
pub fn frame_binary(bytes: &[u8]) {
    frame::check(Format::Binary, bytes);
    let body = bytes.get(12..).unwrap_or_default();
    let Ok(len) = u32::try_from(body.len()) else {
        return;
    };
    let len = len.to_le_bytes();
    let crc = crc32fast::hash(&[&len, body].concat()).to_le_bytes();
    frame::check(Format::Binary, &[b"\x1eTLE", &len, &crc, body].concat());
}

/// Reads arbitrary bytes as a `jsonl` frame, also with a corrected checksum.
pub fn frame_jsonl(bytes: &[u8]) {
    frame::check(Format::Jsonl, bytes);
    let body = &bytes[..bytes.len().saturating_sub(19)];
    let end = format!(",\"crc\":\"{:08x}\"}}\n", crc32fast::hash(body));
    frame::check(Format::Jsonl, &[body, end.as_bytes()].concat());
}

/// Reads arbitrary bytes as a segment header of either format. Accepted bytes must equal the encoder's output.
pub fn header(bytes: &[u8]) {
    for format in [Format::Jsonl, Format::Binary] {
        if let Ok((header, len)) = SegmentHeader::decode(format, bytes) {
            assert_eq!(header.encode(format), &bytes[..len]);
        }
    }
}

/// Reads arbitrary text as JSON. Canonical text must stay unchanged.
pub fn json(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let _ = Timestamp::parse(text);
    if let Ok(json) = Json::parse(text) {
        assert_eq!(Json::parse(json.as_str()), Ok(json));
    }
}

/// Reads arbitrary text as an exported event. Accepted text must be readable again after its export.
pub fn public(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Ok(event) = parse_public_json(text) {
        let mut line = Vec::new();
        public_json(&event, &mut line);
        let line = String::from_utf8(line).expect("a line is text");
        assert_eq!(parse_public_json(&line), Ok(event));
    }
}

/// Defines the program of a fuzz target. The program is built only for `cargo fuzz`, because the fuzzer has its own `main`.
#[macro_export]
macro_rules! target {
    ($check:ident) => {
        #[cfg(fuzzing)]
        libfuzzer_sys::fuzz_target!(|bytes: &[u8]| teamlog_fuzz::$check(bytes));
        #[cfg(not(fuzzing))]
        fn main() {}
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_corpora_holds() {
        type Check = fn(&[u8]);
        let targets: [(&str, Check); 5] = [
            ("frame_binary", frame_binary),
            ("frame_jsonl", frame_jsonl),
            ("header", header),
            ("json", json),
            ("public_json", public),
        ];
        for (name, check) in targets {
            let corpus = format!("{}/corpus/{name}", env!("CARGO_MANIFEST_DIR"));
            let mut files = 0;
            for file in std::fs::read_dir(corpus).unwrap() {
                check(&std::fs::read(file.unwrap().path()).unwrap());
                files += 1;
            }
            assert!(files > 0, "{name} has a corpus");
        }
    }
}
