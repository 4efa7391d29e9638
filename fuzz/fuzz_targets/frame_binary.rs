//! Arbitrary bytes as a binary frame, and the same with length and checksum put right.
#![no_main]

mod frame;

use libfuzzer_sys::fuzz_target;
use teamlog_engine::Format;

fuzz_target!(|bytes: &[u8]| {
    frame::check(Format::Binary, bytes);
    let body = bytes.get(12..).unwrap_or_default();
    let len = (body.len() as u32).to_le_bytes();
    let crc = frame::crc32(&[&len, body].concat()).to_le_bytes();
    frame::check(Format::Binary, &[b"\x1eTLE", &len, &crc, body].concat());
});
