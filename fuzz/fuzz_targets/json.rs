//! Arbitrary text as JSON: canonical text stays as it is.
#![no_main]

use libfuzzer_sys::fuzz_target;
use teamlog_engine::{Json, Timestamp};

fuzz_target!(|text: &str| {
    let _ = Timestamp::parse(text);
    if let Ok(json) = Json::parse(text) {
        assert_eq!(Json::parse(json.as_str()), Ok(json));
    }
});
