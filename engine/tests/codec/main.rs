//! The codec from outside: known bytes, round trips, hostile bytes, ids and times, canonical JSON.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod events;
mod headers;
mod hostile;
mod ids;
mod json;
mod round_trip;
mod times;
mod vectors;
