//! Keys of the derived store.

use crate::event::RefKind;
use crate::prelude::*;

/// First namespace byte of a series.
pub const SERIES: u8 = 0x80;
/// Namespaces `POSTINGS ..= POSTINGS + 7` are the engine's: the postings of each [`RefKind`].
pub const POSTINGS: u8 = 0xF0;

/// The key of one posting: events that name `value` as their ref of that kind, by seq.
pub fn posting(kind: RefKind, value: &str, seq: u64) -> Vec<u8> {
    let mut key = series(POSTINGS + kind as u8, value.as_bytes());
    key.extend_from_slice(&seq.to_be_bytes());
    key
}

/// The part of a series' keys before the number: namespace, name, a zero byte.
/// Names hold no zero byte (they are identifiers).
pub fn series(namespace: u8, name: &[u8]) -> Vec<u8> {
    debug_assert!(namespace >= SERIES);
    let mut key = Vec::with_capacity(name.len() + 10);
    key.push(namespace);
    key.extend_from_slice(name);
    key.push(0);
    key
}

/// Every posting key of an event.
pub fn postings(event: &Event<'_>, mut each: impl FnMut(Vec<u8>)) {
    for kind in RefKind::ALL {
        if let Some(value) = event.refs.get(kind) {
            each(posting(kind, value, event.seq));
        }
    }
}
