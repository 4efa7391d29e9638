//! Keys of the derived store.

use crate::prelude::*;
use crate::refs::Ref;

/// First namespace byte of a series.
pub const SERIES: u8 = 0x80;
/// First namespace of the engine: `POSTINGS ..= POSTINGS + 7` hold the postings of each [`Ref`].
pub const POSTINGS: u8 = 0xF0;

/// Returns the key of a posting, which says that the event `seq` has `value` as its ref `wanted`.
pub fn posting(wanted: impl Into<Ref>, value: &str, seq: u64) -> Vec<u8> {
    let mut key = series(POSTINGS + wanted.into().index() as u8, value.as_bytes());
    key.extend_from_slice(&seq.to_be_bytes());
    key
}

/// Returns the part of a series' keys before the number: namespace, name, a zero byte. Names are identifiers, so they hold no
/// zero byte.
pub fn series(namespace: u8, name: &[u8]) -> Vec<u8> {
    debug_assert!(namespace >= SERIES);
    let mut key = Vec::with_capacity(name.len() + 10);
    key.push(namespace);
    key.extend_from_slice(name);
    key.push(0);
    key
}

/// Calls `each` with every posting key of an event.
pub fn postings(event: &Event<'_>, mut each: impl FnMut(Vec<u8>)) {
    for known in Ref::ALL {
        if let Some(value) = event.refs.get(known) {
            each(posting(known, value, event.seq));
        }
    }
}
