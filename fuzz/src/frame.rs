//! Checks any bytes that are read as a frame.

use teamlog_engine::Format;
use teamlog_engine::internals::codec::{
    canonical_len, decode, encode_body, envelope, extent, next_candidate, parse_public_json,
    public_json, seal,
};

/// Checks that accepted bytes equal the encoder's output, and that their export has the same meaning.
pub fn check(format: Format, bytes: &[u8]) {
    let _ = next_candidate(format, bytes, bytes.len() / 2);
    let (whole, light) = (decode(format, bytes), envelope(format, bytes));
    let Ok(frame) = whole else { return };
    let light = light.expect("what decodes has an envelope");
    assert_eq!(
        (light.seq, light.id, light.kind),
        (frame.event.seq, frame.event.id, &*frame.event.kind)
    );
    assert_eq!(
        (light.payload, light.group, light.len),
        (frame.event.payload.as_bytes(), frame.group, frame.len)
    );
    assert_eq!(extent(format, bytes), Ok(frame.len));
    let (mut body, mut again) = (Vec::new(), Vec::new());
    encode_body(format, &frame.event, &mut body);
    seal(format, &body, frame.group, &mut again);
    assert_eq!(again, &bytes[..frame.len]);
    let mut line = Vec::new();
    public_json(&frame.event, &mut line);
    assert_eq!(line.len(), canonical_len(&frame.event));
    // Only the checksum protects the payload, so the payload is perhaps not JSON. If the payload is JSON, the line must be
    // readable.
    let line = String::from_utf8(line).expect("a line is text");
    if let Ok(event) = parse_public_json(&line) {
        assert_eq!(event.seq, frame.event.seq);
    }
}
