//! Arbitrary text as an exported event: what is accepted can be exported and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use teamlog_engine::codec::{parse_public_json, public_json};

fuzz_target!(|text: &str| {
    if let Ok(event) = parse_public_json(text) {
        let mut line = Vec::new();
        public_json(&event, &mut line);
        let line = String::from_utf8(line).expect("a line is text");
        assert_eq!(parse_public_json(&line), Ok(event));
    }
});
