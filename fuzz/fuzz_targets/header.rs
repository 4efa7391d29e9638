//! Arbitrary bytes as a segment header of either format; what is accepted is what would have been written.
#![no_main]

use libfuzzer_sys::fuzz_target;
use teamlog_engine::Format;
use teamlog_engine::codec::SegmentHeader;

fuzz_target!(|bytes: &[u8]| {
    for format in [Format::Jsonl, Format::Binary] {
        if let Ok((header, len)) = SegmentHeader::decode(format, bytes) {
            assert_eq!(header.encode(format), &bytes[..len]);
        }
    }
});
