//! Arbitrary bytes as a `jsonl` frame, and the same with the checksum put right.
#![no_main]

mod frame;

use libfuzzer_sys::fuzz_target;
use teamlog_engine::Format;

fuzz_target!(|bytes: &[u8]| {
    frame::check(Format::Jsonl, bytes);
    let body = bytes.len().saturating_sub(19);
    let crc = frame::crc32(&bytes[..body]);
    let line = [&bytes[..body], format!(",\"crc\":\"{crc:08x}\"}}\n").as_bytes()].concat();
    frame::check(Format::Jsonl, &line);
});
